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

/// The servers that a load is asked of: one scenario a draft length, at any errors of its times.
namespace foredraft::answers {

/// How far the times of a server may be off: factors on what is predicted, and ends of an engine's ranges.
struct TimesError {
  double step = 1.0;          ///< of every pass
  double verification = 1.0;  ///< of a verification over a decode step; it takes no less than one
  double drafting = 1.0;      ///< of passes that draft, over those of the target
  double prompts = 1.0;
  std::optional<double> iteration_us = {};  ///< in place of Attainable::iteration_us
  latency::EngineEnd host = latency::EngineEnd::central, draft_host = latency::EngineEnd::central;
};

/// The times of passes with their error. `iteration_us`: what `times` hold of an iteration of speculation beyond them.
[[nodiscard]] std::shared_ptr<const ForwardPassTimes> times_with_error(std::shared_ptr<const ForwardPassTimes> times,
                                                                       double iteration_us, const TimesError& error);

/// The servers of a question. Precondition: `question` outlives it; its pair is that of the prediction.
class LoadServers {
 public:
  LoadServers(const LoadQuestion& question, const latency::Profile& profile, latency::Engine engine);

  [[nodiscard]] const latency::Engine& engine() const { return engine_; }
  /// The same servers under another engine; they share the times.
  [[nodiscard]] LoadServers with(latency::Engine engine) const;

  /// One draft length, or the schedule of `at`, under the load of the question.
  [[nodiscard]] Scenario scenario(const AtLoad& at, const Arrivals& arrivals, const TimesError& error = {}) const;

  /// The largest batch of a draft length, and why.
  void limit_batch(AtLoad& at) const;

  /// What the fullest device holds when `at` decodes its mean batch.
  [[nodiscard]] std::optional<double> memory_bytes(const AtLoad& at) const;

  /// Largest pass of `at` over the largest captured one.
  [[nodiscard]] bool beyond_graphs(const AtLoad& at) const;

  /// Time of an iteration of `batch` requests of `context` tokens that drafts gamma and verifies `tokens` of each.
  [[nodiscard]] double iteration_us(std::int64_t batch, std::int64_t context, std::int64_t gamma,
                                    std::int64_t tokens) const;

  /// Throws DomainError where no pass over a prompt is timed.
  void check_prompts() const;

  [[nodiscard]] std::int64_t longest() const;  ///< tokens of a request

 private:
  [[nodiscard]] Drafter drafter() const;
  [[nodiscard]] Convention convention_at(std::int64_t gamma) const;
  [[nodiscard]] EngineTerms terms(const TimesError& error) const;
  void ask(std::int64_t gamma, std::int64_t batch) const;
  [[nodiscard]] bool is_timed(std::int64_t gamma, std::int64_t batch) const;

  const LoadQuestion& question_;
  latency::Engine engine_;
  std::optional<latency::MemoryLimit> memory_;
  double operators_ = 0.0;     ///< of a decode step of the target; 0: its shape is not known
  double iteration_us_ = 0.0;  ///< that the times hold of an iteration of speculation
  Measured cost_;
};

}  // namespace foredraft::answers
