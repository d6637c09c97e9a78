// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/optimal_stopping.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// Dinkelbach's iteration roughly doubles the digits each time.
constexpr int most_rounds = 100;

void check_scenarios(std::span<const DraftScenario> scenarios, Convention convention) {
  check_at_least("scenarios", static_cast<std::int64_t>(scenarios.size()), 1);
  std::vector<double> probabilities;
  for (const DraftScenario& scenario : scenarios) {
    probabilities.push_back(scenario.probability);
    if (!scenario.conditional.empty()) check_probabilities("conditional", scenario.conditional);
    check_at_least("conditional length", static_cast<std::int64_t>(scenario.conditional.size()), min_gamma(convention));
  }
  check_distribution("probability", probabilities);
}

/// Drafts and expected tokens where a token must have a chance above `price` to be worth a draft. Without a bonus token
/// the first draft is due anyway, and draft i yields the token that draft i - 1 makes way for.
struct Length {
  std::int64_t gamma;
  double tokens;
};
Length length_at(double price, const std::vector<double>& conditional, Convention convention) {
  Length length{min_gamma(convention), 1.0};
  double survival = 1.0;
  const auto most = static_cast<std::int64_t>(conditional.size());
  for (std::size_t i = 0; length.gamma < most; ++i) {
    survival *= conditional[i];
    if (!(survival > price)) break;
    length.tokens += survival;
    ++length.gamma;
  }
  return length;
}

/// The yield at a price, for an alpha drawn from Beta(a, b): draft i is made while alpha^j > price, j = i or i - 1.
VaryingYield yield_at(double price, const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  CompensatedSum tokens;
  CompensatedSum drafted;
  tokens.add(1.0);
  const std::int64_t due = min_gamma(convention);
  drafted.add(static_cast<double>(due));
  if (price >= 1.0) return {tokens.value(), drafted.value()};
  const double log_price = std::log(price);
  double moment = 1.0;  // E[alpha^j]
  for (std::int64_t j = 1; j <= gamma - due; ++j) {
    const auto power = static_cast<double>(j);
    moment *= (mixture.a + power - 1.0) / (mixture.a + mixture.b + power - 1.0);
    if (price == 0.0) {
      drafted.add(1.0);
      tokens.add(moment);
      continue;
    }
    const double below_one = -std::expm1(log_price / power);
    drafted.add(boost::math::ibeta(mixture.b, mixture.a, below_one));
    tokens.add(moment * boost::math::ibeta(mixture.b, mixture.a + power, below_one));
  }
  return {tokens.value(), drafted.value()};
}

/// Raises the speedup to the fixed point of `improve`, which gives the yield of the best policy at a price.
template <typename Improve>
VaryingYield fixed_point(double c, VaryingYield start, const Improve& improve) {
  double reached = speedup(start.tokens, start.mean_gamma, constant_ratio(c));
  for (int round = 0; round < most_rounds; ++round) {
    const VaryingYield better = improve(c * reached);
    const double next = speedup(better.tokens, better.mean_gamma, constant_ratio(c));
    if (!(next > reached)) return round == 0 ? better : start;
    reached = next;
    start = better;
  }
  return start;
}

}  // namespace

StoppingPlan optimal_stopping(std::span<const DraftScenario> scenarios, double c, Convention convention) {
  check_scenarios(scenarios, convention);
  check_nonnegative("c", c);
  std::vector<std::int64_t> gamma(scenarios.size());
  const auto improve = [&](double price) {
    CompensatedSum tokens;
    CompensatedSum drafted;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      const Length length = length_at(price, scenarios[i].conditional, convention);
      gamma[i] = length.gamma;
      tokens.add(scenarios[i].probability * length.tokens);
      drafted.add(scenarios[i].probability * static_cast<double>(length.gamma));
    }
    return VaryingYield{tokens.value(), drafted.value()};
  };
  const VaryingYield shortest{1.0, static_cast<double>(min_gamma(convention))};
  const VaryingYield best = fixed_point(c, shortest, improve);
  const double reached = speedup(best.tokens, best.mean_gamma, constant_ratio(c));
  improve(c * reached);  // the lengths that go with the fixed point
  return {gamma, best, reached};
}

VaryingYield optimal_stopping(const BetaMixture& mixture, std::int64_t gamma, double c, Convention convention) {
  check_range("gamma", gamma, min_gamma(convention), max_known_alpha_gamma);
  check_nonnegative("c", c);
  static_cast<void>(accepted_at_least(mixture, 0));  // checks its shapes
  const VaryingYield shortest{1.0, static_cast<double>(min_gamma(convention))};
  return fixed_point(c, shortest, [&](double price) { return yield_at(price, mixture, gamma, convention); });
}

}  // namespace foredraft::analytic
