// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/server.hpp"
#include "foredraft/simulate.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/recorded_outcomes.hpp"

/// A server before its first request: how long its passes take, and how many requests a simulation of it needs.
namespace foredraft::sim {

inline constexpr double ns_per_us = 1e3;

/// Throws DomainError for a sum above 2 years in ns, up to which products of sums fit the 127 bits of the moments.
[[nodiscard]] std::int64_t checked_sum(Int128 value);

[[nodiscard]] inline std::int64_t ns_of(double us) { return std::llround(us * ns_per_us); }

/// Survival thresholds of the longest draft, or what sequences with a memory draw from.
using PreparedAcceptance = std::variant<std::shared_ptr<const SurvivalByState>, RunsDistribution, RecordedOutcomes>;

/// Batches that draft alike.
struct BatchRange {
  std::int64_t from, to;
  IterationShape shape;
};

/// Prompt tokens that an iteration reads.
struct PromptChunk {
  std::int64_t tokens = 0;
  double context = 0.0;       ///< mean over these tokens of what their prompts had in the cache before
  std::size_t completed = 0;  ///< prompts that end in it
};

/// What all replicas share.
struct PreparedServer {
  foredraft::Server server;
  std::shared_ptr<const ForwardPassTimes> times;  ///< null: the server's own steps
  std::vector<BatchRange> ranges;                 ///< in order, from batch 1 to max_batch or beyond
  IterationShape longest;                         ///< longest draft of these
  PreparedAcceptance acceptance;
  std::uint64_t requests = 0;         ///< measured, of a replica
  std::uint64_t warmup_requests = 0;  ///< served before these

  [[nodiscard]] std::int64_t target_ns(const StepShape& shape) const;
  [[nodiscard]] std::int64_t drafter_ns(const StepShape& shape) const;
  /// Of the forward passes of an iteration over `batch` sequences with so many cached tokens in the mean.
  [[nodiscard]] std::int64_t passes_ns(const IterationShape& shape, std::int64_t batch, double context,
                                       const PromptChunk& chunk = {}) const;

  /// Of the host, in an iteration.
  [[nodiscard]] std::int64_t host_ns(std::int64_t batch, bool drafts) const;

 private:
  /// Drafting of sequences that are drafted for together, beyond their verification.
  [[nodiscard]] std::int64_t drafting_ns(const IterationShape& shape, std::int64_t batch, double context) const;
};

[[nodiscard]] PreparedServer prepared_server(const Scenario& scenario);

/// The plan with numbers in place of as_load_needs.
[[nodiscard]] SimulationPlan completed_plan(const PreparedServer& prepared, SimulationPlan plan);

}  // namespace foredraft::sim
