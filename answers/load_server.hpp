// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "answers/load_prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "foredraft/scenario.hpp"
#include "latency/engines/engines.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/memory_fit.hpp"
#include "scenario/cost.hpp"

/// The servers of a load question: a scenario for each draft length, at any error of the predicted times.
namespace foredraft::answers {

/// An error of the predicted times: factors on them, and ends of the ranges of an engine.
struct TimesError {
  double step = 1.0;                        ///< on every forward pass
  double verification = 1.0;                ///< on verification; it still takes at least a decode step
  double drafting = 1.0;                    ///< on drafting passes
  double prompts = 1.0;                     ///< on prefill, separate or in shared passes
  std::optional<double> iteration_us = {};  ///< instead of Attainable::iteration_us
  latency::EngineEnd host = latency::EngineEnd::central, draft_host = latency::EngineEnd::central;
};

/// Times of forward passes with an error. `iteration_us`: what `times` include for a speculative iteration besides its
/// passes.
[[nodiscard]] std::shared_ptr<const ForwardPassTimes> times_with_error(std::shared_ptr<const ForwardPassTimes> times,
                                                                       double iteration_us, const TimesError& error);

/// The servers of a question. Precondition: `question` outlives them, and its pair is that of the prediction.
class LoadServers {
 public:
  LoadServers(const LoadQuestion& question, const latency::Profile& profile, latency::Engine engine);

  [[nodiscard]] const latency::Engine& engine() const { return engine_; }
  /// The same servers under another engine; they share the times.
  [[nodiscard]] LoadServers with(latency::Engine engine) const;

  /// The draft length of `at`, or its schedule, under the load of the question.
  [[nodiscard]] Scenario scenario(const AtLoad& at, const Arrivals& arrivals, const TimesError& error = {}) const;

  /// Sets the maximum batch size of a draft length and what limits it. Throws DomainError if a batch of one has no
  /// times.
  void limit_batch(AtLoad& at) const;

  /// Memory in use on the fullest device at the mean batch size of `at`; nullopt: unknown, or overloaded.
  [[nodiscard]] std::optional<double> memory_bytes(const AtLoad& at) const;

  /// Whether verification of the mean batch size of `at` is larger than the largest captured CUDA graph.
  [[nodiscard]] bool beyond_graphs(const AtLoad& at) const;

  /// Time of an iteration that drafts gamma tokens and verifies `tokens` tokens for each of `batch` requests with
  /// `context` tokens in the KV cache.
  [[nodiscard]] double iteration_us(std::int64_t batch, std::int64_t context, std::int64_t gamma,
                                    std::int64_t tokens) const;

  /// Throws DomainError if the times include no prefill.
  void check_prompts() const;

  [[nodiscard]] std::int64_t longest() const;  ///< tokens of a long request: 95th percentiles, else means

 private:
  [[nodiscard]] Drafter drafter() const;
  [[nodiscard]] Convention convention_at(std::int64_t gamma) const;
  [[nodiscard]] EngineTerms terms(const TimesError& error) const;
  /// Throws DomainError if the times lack a pass of this batch.
  void ask(std::int64_t gamma, std::int64_t batch) const;
  [[nodiscard]] bool is_timed(std::int64_t gamma, std::int64_t batch) const;

  const LoadQuestion& question_;
  latency::Engine engine_;
  std::optional<latency::MemoryLimit> memory_;
  double operators_ = 0.0;     ///< in a decode step of the target; 0: unknown shape
  double iteration_us_ = 0.0;  ///< included in the times, as in times_with_error()
  Measured cost_;
};

}  // namespace foredraft::answers
