// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analytic/observed/acceptance_fit.hpp"
#include "analytic/observed/iteration_times.hpp"

/// Choice of the draft length, from tokens per iteration at every gamma and the iteration times that are known.
namespace foredraft::analytic {

/// Speedup at one gamma and batch size: tokens times baseline time per token divided by iteration time.
struct SpeedupAt {
  std::int64_t gamma;
  double batch;
  TimeAt::Knowledge knowledge;  ///< of the iteration time
  double value;                 ///< NaN if the time is bounded, or the tokens are left open
  double low;                   ///< of a 95 % interval, the errors of tokens and times taken as independent
  double high;
};

/// Speedups of gamma 1 to `max_gamma` at one batch size, as far as the times are known or bounded.
[[nodiscard]] std::vector<SpeedupAt> speedups_at(const AcceptanceFit& tokens, const ObservedTimes& times, double batch,
                                                 std::int64_t max_gamma);

/// The best draft length at one load.
struct BestAt {
  double batch;
  SpeedupAt best;  ///< the smallest of those that noise (95 %) does not distinguish from the largest speedup
  std::vector<std::int64_t> ties;  ///< all of those, ascending, including `best`
  bool sign_certain;               ///< the interval of `best` does not contain 1
};
/// The best of the speedups with a value; nullopt if none has one.
[[nodiscard]] std::optional<BestAt> best_at(std::span<const SpeedupAt> speedups);

/// A load and its share of the generated tokens.
struct Load {
  double batch;
  double share;  ///< of all tokens, >= 0; shares need not sum to 1
};

/// One draft length for all loads, and one for each load if that pays.
struct GammaChoice {
  std::int64_t fixed_gamma;        ///< the smallest within noise of the best
  double fixed_speedup;            ///< time without speculation divided by time with it, over all loads
  std::vector<std::int64_t> ties;  ///< ascending, including fixed_gamma
  std::vector<BestAt> by_load;     ///< in the order of the loads with a share above 0
  /// Speedup with the best gamma at each load (the fixed one within noise) divided by fixed_speedup, minus 1, >= 0.
  double schedule_gain;
  bool schedule_pays;  ///< schedule_gain exceeds schedule_cost
};

/// The best draft lengths over all loads. `schedule_cost` >= 0: relative loss of speedup in an engine that varies the
/// draft length by load, 0.05 for 5 %. The fixed one is chosen among draft lengths that are measured or interpolated at
/// every load; nullopt if there is none, or no load with a share above 0. Throws DomainError for a share or cost out of
/// range.
[[nodiscard]] std::optional<GammaChoice> choose_gamma(const AcceptanceFit& tokens, const ObservedTimes& times,
                                                      std::span<const Load> loads, std::int64_t max_gamma,
                                                      double schedule_cost);

}  // namespace foredraft::analytic
