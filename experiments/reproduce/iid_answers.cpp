// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/iid_answers.hpp"

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "sim/process/process_simulation.hpp"

namespace foredraft::experiments {

sim::Tally simulate(const IidRun& run, const ExperimentSettings& settings) {
  const auto simulator = sim::make_process_simulator({.process = Iid{run.alpha},
                                                      .gamma = run.gamma,
                                                      .convention = Convention::bonus,
                                                      .drafting = Drafting::autoregressive,
                                                      .iterations = run.iterations,
                                                      .sequence = std::nullopt,
                                                      .sequences = 0,
                                                      .path = Path::reference});
  return sim::run(*simulator, {.seed = settings.seed, .point = run.point, .stop = settings.stop}, settings.threads);
}

double iid_tokens(double alpha, std::int64_t gamma) {
  return analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
}

double iid_speedup(double alpha, std::int64_t gamma, double c) {
  return analytic::speedup(iid_tokens(alpha, gamma), gamma, c, Drafting::autoregressive);
}

ImpliedCost implied_cost(const PrintedNumber& alpha, std::int64_t gamma, const PrintedNumber& speedup) {
  check_at_least("gamma", gamma, 1);
  const auto c_of = [gamma](double at_alpha, double at_speedup) {
    return analytic::implied_cost(iid_tokens(at_alpha, gamma), at_speedup, 1.0) / static_cast<double>(gamma);
  };
  ImpliedCost implied{
      .c = c_of(alpha.value, speedup.value),
      // Tokens rise with alpha and c falls with the speedup, so the ends of the box are the ends of the interval.
      .c_interval = {c_of(alpha.rounding.low, speedup.rounding.high), c_of(alpha.rounding.high, speedup.rounding.low)},
      .iid_bound = iid_tokens(alpha.rounding.high, gamma),
      .process_bound = analytic::any_process_bounds(alpha.rounding.high, gamma, Convention::bonus).high,
      .best_gamma = std::nullopt,
      .best_speedup = std::nullopt};
  if (implied.c > 0.0) {
    const analytic::BestGamma best = analytic::best_gamma(
        {.alpha = alpha.value, .c = implied.c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
    implied.best_gamma = best.gamma;
    implied.best_speedup = best.speedup;
  }
  return implied;
}

}  // namespace foredraft::experiments
