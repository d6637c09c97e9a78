// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/implied_cost.hpp"

namespace foredraft::experiments {
namespace {

double expected_speedup(double alpha, std::int64_t gamma, double c) {
  const double tokens =
      analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
  return analytic::speedup(tokens, gamma, c, Drafting::autoregressive);
}

}  // namespace

/// The table of appendix A.3, where c comes from profiler traces: so it predicts what Table 2 of the paper measured.
ExperimentResult leviathan_table4(const ExperimentSettings& /*settings*/) {
  TableAccount account("leviathan-table4", "leviathan_table4", {"task", "approx_model", "temperature"});
  const PublishedTable& table = account.published();
  for (const char* column : {"gamma", "alpha", "c"}) account.inputs(column);
  const auto ours = [&](std::size_t row) {
    const auto gamma = static_cast<std::int64_t>(table.number(row, "gamma").value);
    return propagate_rounding({rounded(table.number(row, "alpha")), rounded(table.number(row, "c"))},
                              [gamma](std::span<const double> in) { return expected_speedup(in[0], gamma, in[1]); });
  };
  account.each("expected_x", [&](std::size_t row) {
    return exact_cell(ours(row), "i.i.d. acceptance; alpha, gamma and c as printed");
  });
  account.each("measured_x", [&](std::size_t row) {
    const RoundedValue speedup = ours(row);
    const PrintedNumber measured = table.number(row, "measured_x");
    const auto gamma = static_cast<std::int64_t>(table.number(row, "gamma").value);
    const ImpliedCost cost = implied_cost(table.number(row, "alpha"), gamma, measured);
    return CellAnswer{.kind = Kind::predicted,
                      .ours = speedup.value,
                      .interval = speedup.rounding,
                      .note = fmt::format("from alpha, gamma and c alone, nothing fitted: {:+.0f} % off; the measured "
                                          "speedup would need c = {:.3f} ({:.3f} to {:.3f})",
                                          100.0 * (speedup.value / measured.value - 1.0), cost.c, cost.c_interval.low,
                                          cost.c_interval.high),
                      .finding = {}};
  });
  return account.finish(
      "Expected and measured speedup on T5-XXL [Leviathan2023, Table 4]: the closed form with the printed alpha, gamma "
      "and c, beside both.");
}

}  // namespace foredraft::experiments
