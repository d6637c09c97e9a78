// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/cell_answers.hpp"

#include <fmt/format.h>

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

namespace {

double tokens(double alpha, std::int64_t gamma) {
  return analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
}

double solve_c(double alpha, std::int64_t gamma, double speedup) {
  return analytic::implied_cost(tokens(alpha, gamma), speedup, 1.0) / static_cast<double>(gamma);
}

}  // namespace

ImpliedCost implied_cost(const PrintedNumber& alpha, std::int64_t gamma, const PrintedNumber& speedup) {
  check_at_least("gamma", gamma, 1);
  ImpliedCost implied{
      .c = solve_c(alpha.value, gamma, speedup.value),
      // Tokens rise with alpha and c falls with the speedup, so the ends of the box are the ends of the interval.
      .c_interval = {solve_c(alpha.rounding.low, gamma, speedup.rounding.high),
                     solve_c(alpha.rounding.high, gamma, speedup.rounding.low)},
      .iid_bound = tokens(alpha.rounding.high, gamma),
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

CellAnswer input_cell(std::string note) {
  return {.kind = Kind::input, .ours = {}, .interval = {}, .note = std::move(note), .finding = {}};
}

CellAnswer exact_cell(const RoundedValue& ours, std::string formula) {
  return {
      .kind = Kind::exact, .ours = ours.value, .interval = ours.rounding, .note = std::move(formula), .finding = {}};
}

CellAnswer predicted_cell(double ours, const PrintedNumber& published, const std::string& from) {
  return {.kind = Kind::predicted,
          .ours = ours,
          .interval = {},
          .note = fmt::format("{}; off by {:+.1f} %", from, 100.0 * (ours / published.value - 1.0)),
          .finding = {}};
}

CellAnswer fitted_cell(double ours, std::string what) {
  return {.kind = Kind::fitted, .ours = ours, .interval = {}, .note = std::move(what), .finding = {}};
}

CellAnswer unreachable_cell(std::string why) {
  return {.kind = Kind::out_of_reach, .ours = {}, .interval = {}, .note = std::move(why), .finding = {}};
}

CellAnswer with_finding(CellAnswer answer, std::string arithmetic) {
  answer.finding = std::move(arithmetic);
  return answer;
}

RoundedValue rounded_difference(const RoundedValue& a, const RoundedValue& b) {
  return propagate_rounding({a, b}, [](std::span<const double> x) { return x[0] - x[1]; });
}

RoundedValue rounded_product(const RoundedValue& a, const RoundedValue& b) {
  return propagate_rounding({a, b}, [](std::span<const double> x) { return x[0] * x[1]; });
}

RoundedValue rounded_quotient(const RoundedValue& a, const RoundedValue& b) {
  return propagate_rounding({a, b}, [](std::span<const double> x) { return x[0] / x[1]; });
}

bool contradicts(const RoundedValue& computed, const PrintedNumber& published) {
  return !intersects(computed.rounding, published.rounding);
}

}  // namespace foredraft::experiments
