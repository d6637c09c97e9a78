// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/iid_run.hpp"
#include "experiments/text/digest.hpp"
#include "sim/estimates.hpp"

namespace foredraft::experiments {

ExperimentResult leviathan_figure4(const ExperimentSettings& settings) {
  constexpr double c = 0.0;
  constexpr double operations_ratio = 0.0;
  constexpr std::array<std::int64_t, 5> gammas{1, 3, 5, 7, 10};
  DataText data({"gamma", "alpha", "analytic_speedup", "analytic_operations_factor", "simulated_speedup",
                 "simulated_speedup_standard_error", "simulated_operations_factor",
                 "simulated_operations_factor_standard_error"});
  std::uint64_t point = 0;
  for (const std::int64_t gamma : gammas) {
    for (int percent = 0; percent <= 100; ++percent) {
      const double alpha = percent / 100.0;
      const double tokens =
          analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
      std::optional<Estimate> speedup;
      std::optional<Estimate> operations;
      if (percent % 10 == 0) {
        const sim::Tally tally =
            simulate({.alpha = alpha, .gamma = gamma, .iterations = 100'000, .point = point++}, settings);
        speedup = sim::speedup(tally, constant_ratio(c));
        operations = sim::operations_factor(tally, operations_ratio, Convention::bonus);
      }
      data.row()
          .cell(static_cast<double>(gamma))
          .cell(alpha)
          .cell(analytic::speedup(tokens, gamma, c, Drafting::autoregressive))
          .cell(analytic::operations_factor(tokens, gamma, operations_ratio, Convention::bonus))
          .cell(speedup)
          .cell(operations);
    }
  }
  return {.text =
              "speedup and operations against alpha for gamma = 1, 3, 5, 7, 10 at c = c-hat = 0; closed form, "
              "simulated every 0.1\n",
          .artifacts = {{"leviathan-figure4.csv", data.csv()}},
          .rows = {}};
}

}  // namespace foredraft::experiments
