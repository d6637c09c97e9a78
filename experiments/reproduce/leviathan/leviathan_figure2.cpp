// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/iid_run.hpp"
#include "experiments/text/digest.hpp"
#include "sim/estimates.hpp"

namespace foredraft::experiments {
namespace {

/// Stands in for gamma = infinity in the simulation: at alpha <= 0.9 fewer than one iteration in 10^17 gets that far.
constexpr std::int64_t practically_unbounded = 400;

double tokens(double alpha, std::optional<std::int64_t> gamma) {
  if (!gamma) return 1.0 / (1.0 - alpha);
  return analytic::tokens_per_iteration({.alpha = alpha, .gamma = *gamma, .convention = Convention::bonus});
}

}  // namespace

ExperimentResult leviathan_figure2(const ExperimentSettings& settings) {
  DataText data({"gamma", "alpha", "analytic_tokens_per_iteration", "simulated_tokens_per_iteration",
                 "simulated_tokens_per_iteration_standard_error"});
  std::uint64_t point = 0;
  for (const std::optional<std::int64_t> gamma :
       {std::optional<std::int64_t>(1), std::optional<std::int64_t>(3), std::optional<std::int64_t>(5),
        std::optional<std::int64_t>(7), std::optional<std::int64_t>(10), std::optional<std::int64_t>()}) {
    const std::string label = gamma ? fmt::format("{}", *gamma) : "unbounded";
    const int last_percent = gamma ? 100 : 92;  // the limit 1 / (1 - alpha) leaves the picture above
    for (int percent = 0; percent <= last_percent; ++percent) {
      const double alpha = percent / 100.0;
      std::optional<Estimate> simulated;
      if (percent % 10 == 0) {
        const IidRun run{.alpha = alpha,
                         .gamma = gamma.value_or(practically_unbounded),
                         .iterations = gamma ? 100'000U : 20'000U,
                         .point = point++};
        simulated = sim::tokens_per_iteration(simulate(run, settings));
      }
      data.row().cell(label).cell(alpha).cell(tokens(alpha, gamma)).cell(simulated);
    }
  }
  return {.text =
              "tokens per iteration against alpha for gamma = 1, 3, 5, 7, 10 and unbounded; "
              "closed form, simulated every 0.1\n",
          .artifacts = {{"leviathan-figure2.csv", data.csv()}},
          .rows = {}};
}

}  // namespace foredraft::experiments
