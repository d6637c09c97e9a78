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
#include "sim/process/recorded_outcomes.hpp"
#include "sim/process/steppers.hpp"

/// A prepared server: times of its passes, and the number of requests that a simulation needs.
namespace foredraft::sim {

inline constexpr double ns_per_us = 1e3;

/// Throws DomainError for a sum above 2 years in ns. Up to this limit, products of sums fit into the 127 bits of the
/// moments.
[[nodiscard]] std::int64_t checked_sum(Int128 value);

[[nodiscard]] inline std::int64_t ns_of(double us) { return std::llround(us * ns_per_us); }

/// Survival thresholds of the longest draft, or the distribution of sequences with memory.
using PreparedAcceptance = std::variant<std::shared_ptr<const SurvivalByState>, RunsDistribution, RecordedOutcomes>;

/// A range of batch sizes with the same draft length.
struct BatchRange {
  std::int64_t from, to;
  IterationShape shape;
};

/// Prompt tokens that an iteration reads.
struct PromptChunk {
  std::int64_t tokens = 0;
  double context = 0.0;       ///< mean over these tokens of their prompts' cached tokens
  std::size_t completed = 0;  ///< prompts completed in it
};

/// Data that all replicas share.
struct PreparedServer {
  foredraft::Server server;
  std::shared_ptr<const ForwardPassTimes> times;  ///< null: the server's own steps
  std::vector<BatchRange> ranges;                 ///< in order, from batch 1 to max_batch or beyond
  IterationShape longest;                         ///< shape with the longest draft
  PreparedAcceptance acceptance;
  std::uint64_t requests = 0;         ///< measured requests of a replica
  std::uint64_t warmup_requests = 0;  ///< served before the measured ones

  [[nodiscard]] std::int64_t target_ns(const StepShape& shape) const;
  [[nodiscard]] std::int64_t drafter_ns(const StepShape& shape) const;
  /// Time of the forward passes of an iteration over `batch` sequences with mean context length `context`, and of
  /// Server::overhead_us if it drafts.
  [[nodiscard]] std::int64_t passes_ns(const IterationShape& shape, std::int64_t batch, double context,
                                       const PromptChunk& chunk = {}) const;

  /// Host time of an iteration.
  [[nodiscard]] std::int64_t host_ns(std::int64_t batch, bool drafts) const;

 private:
  /// Time of batched drafting and of Server::overhead_us, without verification.
  [[nodiscard]] std::int64_t drafting_ns(const IterationShape& shape, std::int64_t batch, double context) const;
};

[[nodiscard]] PreparedServer prepared_server(const Scenario& scenario);

/// The plan with as_load_needs replaced by numbers.
[[nodiscard]] SimulationPlan completed_plan(const PreparedServer& prepared, SimulationPlan plan);

}  // namespace foredraft::sim
