// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analytic/observed/acceptance_fit.hpp"
#include "analytic/observed/iteration_times.hpp"

/// Which draft length to set: from tokens per iteration at every gamma and iteration times where they are identified.
namespace foredraft::analytic {

/// Speedup over plain decoding at one gamma and batch: tokens times plain time over iteration time.
struct SpeedupAt {
  std::int64_t gamma;
  double batch;
  TimeAt::Knowledge knowledge;  ///< of the iteration time
  double value;                 ///< NaN where the time is bounded, or the tokens are left open
  double low;                   ///< of a 95 % interval, the errors of tokens and times taken as independent
  double high;
};

/// Of gamma 1 to `max_gamma` at one batch; only those with a known, interpolated or bounded time. Empty without a plain
/// time at that batch.
[[nodiscard]] std::vector<SpeedupAt> speedups_at(const AcceptanceFit& tokens, const ObservedTimes& times, double batch,
                                                 std::int64_t max_gamma);

/// The best draft length at one load.
struct BestAt {
  double batch;
  SpeedupAt best;                  ///< the smallest of those that noise (95 %) does not tell from the largest speedup
  std::vector<std::int64_t> ties;  ///< all of those, ascending, `best` included
  bool sign_certain;               ///< the interval of `best` does not hold 1
};
/// Among the speedups with a value; nothing where none has one.
[[nodiscard]] std::optional<BestAt> best_at(std::span<const SpeedupAt> speedups);

/// A load and how much is generated at it.
struct Load {
  double batch;
  double share;  ///< of all tokens, >= 0; shares need not add up to 1
};

/// One draft length for all loads, and one for each where that is worth it.
struct GammaChoice {
  std::int64_t fixed_gamma;        ///< the smallest within noise of the best
  double fixed_speedup;            ///< time of plain decoding over time, over all loads
  std::vector<std::int64_t> ties;  ///< ascending, fixed_gamma included
  std::vector<BestAt> by_load;     ///< in the order of the loads of a share above 0
  /// Of the best draft length at each load, where noise does not tie it with the best for all, over that: less 1, >= 0.
  double schedule_gain;
  bool schedule_pays;  ///< schedule_gain exceeds schedule_cost
};

/// `schedule_cost` >= 0: the share of speedup that draft lengths by load cost in an engine, 0.05 for 5 %. Only draft
/// lengths that are measured or interpolated at every load stand as the fixed one; nothing where there is none, or no
/// load of a share above 0. Throws DomainError on a share or cost out of range.
[[nodiscard]] std::optional<GammaChoice> choose_gamma(const AcceptanceFit& tokens, const ObservedTimes& times,
                                                      std::span<const Load> loads, std::int64_t max_gamma,
                                                      double schedule_cost);

}  // namespace foredraft::analytic
