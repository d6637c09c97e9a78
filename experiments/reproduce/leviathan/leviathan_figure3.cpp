// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "analytic/draft_length/best_gamma.hpp"
#include "core/intervals.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/iid_run.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

/// Longest draft of the simulated search; the optimum at alpha = 0.95, c = 0.01 is 40.
constexpr std::int64_t longest_draft = 96;

/// The draft lengths that a simulation cannot tell from its best one.
struct SimulatedBest {
  std::int64_t gamma;
  std::int64_t low;
  std::int64_t high;
};

/// Every shorter draft is a truncation of the same run, so all lengths are compared on the same iterations: the
/// difference of two speedups is the mean of a function of the accepted count, and its standard error follows exactly.
SimulatedBest simulated_best(const sim::Tally& tally, double c) {
  const auto speedup = [&](std::int64_t gamma, std::int64_t tokens) {
    return static_cast<double>(std::min(tokens, gamma + 1)) / (1.0 + static_cast<double>(gamma) * c);
  };
  const auto iterations = static_cast<double>(tally.units.sum(sim::iterations));
  const auto mean = [&](auto value) {
    double sum = 0.0;
    for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
      sum += static_cast<double>(tally.tokens_count[k]) * value(static_cast<std::int64_t>(k) + 1);
    }
    return sum / iterations;
  };

  SimulatedBest best{.gamma = 0, .low = 0, .high = 0};
  double best_speedup = 0.0;
  for (std::int64_t gamma = 0; gamma <= longest_draft; ++gamma) {
    const double value = mean([&](std::int64_t tokens) { return speedup(gamma, tokens); });
    if (value > best_speedup) {
      best_speedup = value;
      best.gamma = gamma;
    }
  }
  const double z = normal_quantile(0.95);
  const auto indistinguishable = [&](std::int64_t gamma) {
    const auto difference = [&](std::int64_t tokens) { return speedup(best.gamma, tokens) - speedup(gamma, tokens); };
    const double average = mean(difference);
    const double variance = mean([&](std::int64_t tokens) { return std::pow(difference(tokens) - average, 2); });
    return average <= z * std::sqrt(variance / iterations);
  };
  best.low = best.high = best.gamma;
  while (best.low > 0 && indistinguishable(best.low - 1)) --best.low;
  while (best.high < longest_draft && indistinguishable(best.high + 1)) ++best.high;
  return best;
}

}  // namespace

ExperimentResult leviathan_figure3(const ExperimentSettings& settings) {
  constexpr std::array costs{0.01, 0.02, 0.05, 0.1, 0.2};
  constexpr std::array simulated_percents{10, 20, 30, 40, 50, 60, 70, 80, 90, 95};
  std::vector<sim::Tally> tallies;
  for (std::size_t i = 0; i < simulated_percents.size(); ++i) {
    tallies.push_back(
        simulate({.alpha = simulated_percents[i] / 100.0, .gamma = longest_draft, .iterations = 1'000'000, .point = i},
                 settings));
  }

  DataText data({"c", "alpha", "analytic_best_gamma", "simulated_best_gamma", "simulated_best_gamma_low",
                 "simulated_best_gamma_high"});
  for (const double c : costs) {
    for (int permille = 0; permille <= 950; permille += 5) {
      const double alpha = permille / 1000.0;
      const auto best = analytic::best_gamma(
          {.alpha = alpha, .c = c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
      data.row().cell(c).cell(alpha).cell(static_cast<double>(best.gamma.value()));
      const auto* const found = std::find(simulated_percents.begin(), simulated_percents.end(), permille / 10);
      if (permille % 10 != 0 || found == simulated_percents.end()) {
        data.cell(std::optional<double>()).cell(std::optional<double>()).cell(std::optional<double>());
        continue;
      }
      const auto simulated = simulated_best(tallies[static_cast<std::size_t>(found - simulated_percents.begin())], c);
      for (const std::int64_t gamma : {simulated.gamma, simulated.low, simulated.high}) {
        data.cell(static_cast<double>(gamma));
      }
    }
  }
  return {.text =
              "optimal gamma against alpha for c = 0.01, 0.02, 0.05, 0.1, 0.2; closed rule, and the best of a "
              "simulation with the lengths it cannot tell apart\n",
          .artifacts = {{"leviathan-figure3.csv", data.csv()}},
          .rows = {}};
}

}  // namespace foredraft::experiments
