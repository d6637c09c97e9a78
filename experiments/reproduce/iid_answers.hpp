// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/reproduce/registry.hpp"
#include "experiments/text/table.hpp"
#include "sim/tally.hpp"

/// Predictions of i.i.d. acceptance for printed settings, with the bonus convention and autoregressive drafting.
namespace foredraft::experiments {

/// A simulated run by the reference path, one draw per drafted token. `point` numbers the runs of one experiment.
struct IidRun {
  double alpha;
  std::int64_t gamma;
  std::uint64_t iterations;
  std::uint64_t point;
};

[[nodiscard]] sim::Tally simulate(const IidRun& run, const ExperimentSettings& settings);

[[nodiscard]] double iid_tokens(double alpha, std::int64_t gamma);
[[nodiscard]] double iid_speedup(double alpha, std::int64_t gamma, double c);

/// The drafter's cost that follows from a printed (alpha, gamma, speedup). Intervals propagate the rounding of both
/// printed inputs.
struct ImpliedCost {
  double c;  ///< (tokens / speedup - 1) / gamma at the printed values; negative: no cost explains them
  Interval c_interval;
  double iid_bound;  ///< largest speedup of i.i.d. acceptance: tokens at c = 0 and the upper end of alpha's rounding
  double process_bound;                    ///< the same for any acceptance process of this mean
  std::optional<std::int64_t> best_gamma;  ///< for c; empty if c <= 0
  std::optional<double> best_speedup;
};

[[nodiscard]] ImpliedCost implied_cost(const PrintedNumber& alpha, std::int64_t gamma, const PrintedNumber& speedup);

}  // namespace foredraft::experiments
