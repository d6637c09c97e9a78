// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "experiments/text/table.hpp"
#include "sim/tally.hpp"

namespace foredraft::experiments {

/// A simulated run that reproduces a printed setting: i.i.d. acceptance by the reference path, one draw per drafted
/// token, bonus convention, autoregressive drafting. `point` numbers the runs of one experiment.
struct IidRun {
  double alpha;
  std::int64_t gamma;
  std::uint64_t iterations;
  std::uint64_t point;
};

[[nodiscard]] sim::Tally simulate(const IidRun& run, const ExperimentSettings& settings);

/// What a printed (alpha, gamma, speedup) says about the drafter's cost, under the bonus convention and autoregressive
/// drafting. Intervals propagate the rounding of both printed inputs.
struct ImpliedCost {
  double c;  ///< (tokens / speedup - 1) / gamma at the printed values; negative: no cost explains them
  Interval c_interval;
  double iid_bound;  ///< largest speedup of i.i.d. acceptance: tokens at c = 0 and the upper end of alpha's rounding
  double process_bound;                    ///< the same for any acceptance process of this mean
  std::optional<std::int64_t> best_gamma;  ///< for c; nothing when c <= 0
  std::optional<double> best_speedup;
};

[[nodiscard]] ImpliedCost implied_cost(const PrintedNumber& alpha, std::int64_t gamma, const PrintedNumber& speedup);

// ---- The few things that can be said of a printed cell, in words.

/// A parameter we start from.
[[nodiscard]] CellAnswer input_cell(std::string note = {});

/// Kind exact: follows from printed values by `formula`.
[[nodiscard]] CellAnswer exact_cell(const RoundedValue& ours, std::string formula);

/// Kind predicted; the note ends with the error: "Table 18 at 4.9 iterations; off by +2.4 %".
[[nodiscard]] CellAnswer predicted_cell(double ours, const PrintedNumber& published, const std::string& from);

/// Kind fitted: what the model says of a cell that it was fitted to.
[[nodiscard]] CellAnswer fitted_cell(double ours, std::string what);

/// Kind out_of_reach.
[[nodiscard]] CellAnswer unreachable_cell(std::string why);

/// The same answer, with the printed value's contradiction and its arithmetic.
[[nodiscard]] CellAnswer with_finding(CellAnswer answer, std::string arithmetic);

/// a - b, a * b, a / b with what rounding leaves of them; b > 0 in a quotient.
[[nodiscard]] RoundedValue rounded_difference(const RoundedValue& a, const RoundedValue& b);
[[nodiscard]] RoundedValue rounded_product(const RoundedValue& a, const RoundedValue& b);
[[nodiscard]] RoundedValue rounded_quotient(const RoundedValue& a, const RoundedValue& b);

/// Whether the rounding of a computed value and a printed one have no value in common.
[[nodiscard]] bool contradicts(const RoundedValue& computed, const PrintedNumber& published);

}  // namespace foredraft::experiments
