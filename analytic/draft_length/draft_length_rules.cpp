// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/draft_length_rules.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/beta_products.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"
#include "foredraft/policy.hpp"

namespace foredraft::analytic {
std::vector<double> plus2_minus1_distribution(std::span<const double> marginal) {
  check_marginal(marginal);
  const std::size_t cap = marginal.size();
  // The flows across the cut between g and g + 1 balance: pi(g+1) (1 - m(g+1)) = pi(g) m(g) + pi(g-1) m(g-1), a
  // recursion of positive terms. Lengths below the last one that is accepted with certainty are transient.
  std::size_t first = 0;
  while (first + 1 < cap && marginal[first + 1] == 1.0) ++first;
  std::vector<double> distribution(cap, 0.0);
  distribution[first] = 1.0;
  constexpr double large = 1e250;
  std::size_t cleared = first;  // entries before it are 0
  std::size_t window = first;   // entries before it are negligible compared with the present ones
  for (std::size_t g = first + 1; g < cap; ++g) {
    const double from_two_below = g >= first + 2 ? distribution[g - 2] * marginal[g - 2] : 0.0;
    distribution[g] = (distribution[g - 1] * marginal[g - 1] + from_two_below) / (1.0 - marginal[g]);
    if (distribution[g] < large) continue;
    for (; cleared < window; ++cleared) distribution[cleared] = 0.0;
    for (std::size_t i = window; i <= g; ++i) distribution[i] /= large;
    window = g - 1;
  }
  CompensatedSum total;
  for (const double mass : distribution) total.add(mass);
  for (double& mass : distribution) mass /= total.value();
  return distribution;
}

VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention) {
  const std::vector<double> distribution = plus2_minus1_distribution(marginal);
  CompensatedSum tokens;
  CompensatedSum drafted;
  CompensatedSum yield;  // of an iteration of g drafts
  yield.add(1.0);
  for (std::size_t g = 1; g <= distribution.size(); ++g) {
    if (convention == Convention::bonus) yield.add(marginal[g - 1]);
    tokens.add(distribution[g - 1] * yield.value());
    drafted.add(distribution[g - 1] * static_cast<double>(g));
    if (convention == Convention::no_bonus) yield.add(marginal[g - 1]);
  }
  return {tokens.value(), drafted.value()};
}

namespace {

constexpr std::int64_t max_rule_gamma = std::int64_t{1} << 24U;

void check_between(std::string_view name, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in [{}, {}])", name, value, low, high));
  }
}

void check_tokens(double alpha, double concentration, std::int64_t gamma) {
  check_probability("alpha", alpha);
  check_between("concentration", concentration, 1e-6, 1e9);
  check_range("gamma", gamma, 1, max_rule_gamma);
}

void check_confidence(const ConfidentDrafter& drafter) {
  check_tokens(drafter.alpha, drafter.concentration, drafter.gamma);
  check_probability("threshold", drafter.threshold);
  check_between("bias", drafter.bias, 1e-3, 1e3);
}

/// [k], k = 0..gamma, with A_k the product of the acceptance probabilities of k drafts.
struct LikelyDrafts {
  std::vector<double> made;      ///< P(A_k >= e^-budget)
  std::vector<double> accepted;  ///< E[A_k; A_k >= e^-budget]
};
LikelyDrafts likely_drafts(double alpha, double concentration, double budget, std::int64_t gamma) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  if (alpha == 1.0 && budget >= 0.0) budget = endless;
  if (alpha == 0.0 && budget < endless) budget = std::min(budget, 0.0);
  const double a = std::max(alpha * concentration, std::numeric_limits<double>::min());
  const double b = std::max((1.0 - alpha) * concentration, std::numeric_limits<double>::min());
  LikelyDrafts likely{product_survival(a, b, budget, gamma), product_survival(a + 1.0, b, budget, gamma)};
  double mean = 1.0;
  for (double& accepted : likely.accepted) {
    accepted *= mean;
    mean *= alpha;
  }
  return likely;
}

}  // namespace

GoOn go_on(const ConfidentDrafter& drafter) {
  check_confidence(drafter);
  const auto [alpha, concentration, threshold, bias, gamma] = drafter;
  if (threshold == 0.0) return {1.0, alpha};
  if (alpha == 0.0) return {0.0, 0.0};
  if (alpha == 1.0) return {1.0, 1.0};
  // The acceptance probability x with a confidence equal to the threshold; 1 - x is computed separately, because x may
  // be near 1.
  const double log_x = std::log(threshold) / bias;
  const double below_one = -std::expm1(log_x);
  const double a = alpha * concentration;
  const double b = (1.0 - alpha) * concentration;
  // P(Beta(a, b) >= x) = P(Beta(b, a) <= 1 - x); E[x; x >= t] = a / (a + b) P(Beta(a + 1, b) >= t).
  return {boost::math::ibeta(b, a, below_one), alpha * boost::math::ibeta(b, a + 1.0, below_one)};
}

std::vector<double> reached(const ConfidentDrafter& drafter, Convention convention) {
  const double accepted = go_on(drafter).accepted;
  std::vector<double> result;
  double product = convention == Convention::bonus ? drafter.alpha : accepted;
  for (std::int64_t k = 0; k < drafter.gamma; ++k) {
    result.push_back(product);
    product *= accepted;
  }
  return result;
}

VaryingYield confidence_threshold(const ConfidentDrafter& drafter, Convention convention) {
  const auto [probability, accepted] = go_on(drafter);
  const double drafted = stable::geometric_sum(probability, 1.0 - probability, drafter.gamma);
  const double tested = stable::geometric_sum(accepted, 1.0 - accepted, drafter.gamma);
  // Without a bonus token the last position yields its token whether the draft is accepted or corrected.
  return {convention == Convention::bonus ? 1.0 + drafter.alpha * tested : tested, drafted};
}

double confidence_of_entropy(double root_entropy, std::int64_t alternatives) {
  check_nonnegative("root_entropy", root_entropy);
  check_at_least("alternatives", alternatives, 1);
  const auto others = static_cast<double>(alternatives);
  const double wanted = root_entropy * root_entropy;
  if (wanted >= std::log1p(others)) return 0.0;
  // As a function of r = 1 - confidence, H = -log1p(-r) (1 - r) - r log(r / others) increases up to the uniform
  // distribution.
  double low = 0.0;
  double high = others / (others + 1.0);
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double rest = 0.5 * (low + high);
    const double entropy = -std::log1p(-rest) * (1.0 - rest) - rest * std::log(rest / others);
    (entropy <= wanted ? low : high) = rest;
  }
  return 1.0 - low;
}

StoppedDrafts rejection_probability(const ConfidentDrafter& drafter, Convention convention) {
  check_confidence(drafter);
  const double budget = -std::log1p(-drafter.threshold) / drafter.bias;
  const LikelyDrafts likely = likely_drafts(drafter.alpha, drafter.concentration, budget, drafter.gamma);
  // A draft is made if the probability after the previous drafts is high enough.
  StoppedDrafts stopped{{1.0, 0.0}, {}};
  CompensatedSum drafted;
  CompensatedSum tokens;
  tokens.add(1.0);
  for (std::size_t k = 0; k < static_cast<std::size_t>(drafter.gamma); ++k) {
    drafted.add(likely.made[k]);
    stopped.reached.push_back(convention == Convention::bonus ? drafter.alpha * likely.accepted[k]
                                                              : likely.accepted[k + 1]);
    if (static_cast<std::int64_t>(k) + 1 < max_tokens(drafter.gamma, convention)) tokens.add(stopped.reached.back());
  }
  stopped.yield = {tokens.value(), drafted.value()};
  return stopped;
}

namespace {

/// Dinkelbach's iteration roughly doubles the number of correct digits per step.
constexpr int max_rounds = 100;

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

/// Drafts and expected tokens if a draft is made only while its token's probability exceeds `price`. Without a bonus
/// token the first draft is always made, and draft i yields its token if draft i - 1 is accepted.
struct Length {
  std::int64_t gamma;
  double tokens;
};
Length length_at(double price, const std::vector<double>& conditional, Convention convention) {
  Length length{min_gamma(convention), 1.0};
  double survival = 1.0;
  const auto maximum = static_cast<std::int64_t>(conditional.size());
  for (std::size_t i = 0; length.gamma < maximum; ++i) {
    survival *= conditional[i];
    if (!(survival > price)) break;
    length.tokens += survival;
    ++length.gamma;
  }
  return length;
}

/// Drafts and expected tokens for alpha drawn from Beta(a, b): draft i is made while alpha^j > price, j = i or i - 1.
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

/// Drafts whose tokens are emitted with a probability above `price`.
StoppedDrafts drafts_at_price(double alpha, double concentration, double price, std::int64_t gamma,
                              Convention convention) {
  // A budget below 0 if no draft has a sufficient probability.
  const double budget = price < 1.0 && alpha > 0.0 ? -std::log(price) : -1.0;
  const LikelyDrafts likely = likely_drafts(alpha, concentration, budget, gamma);
  StoppedDrafts stopped{{1.0, 0.0}, {}};
  CompensatedSum drafted;
  CompensatedSum tokens;
  tokens.add(1.0);
  const std::int64_t due = min_gamma(convention);
  drafted.add(static_cast<double>(due));
  for (std::size_t k = 1; k <= static_cast<std::size_t>(gamma); ++k) {
    stopped.reached.push_back(likely.accepted[k]);
    if (static_cast<std::int64_t>(k) > gamma - due) continue;
    tokens.add(likely.accepted[k]);
    drafted.add(likely.made[k]);
  }
  stopped.yield = {tokens.value(), drafted.value()};
  return stopped;
}

/// Iterates the speedup to the fixed point of `improve`, which returns draft length and tokens of the best policy at a
/// price.
template <typename Improve>
VaryingYield fixed_point(double c, VaryingYield start, const Improve& improve) {
  double reached = speedup(start.tokens, start.mean_gamma, constant_ratio(c));
  for (int round = 0; round < max_rounds; ++round) {
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
  improve(c * reached);  // the lengths at the fixed point
  return {gamma, best, reached};
}

VaryingYield optimal_stopping(const BetaMixture& mixture, std::int64_t gamma, double c, Convention convention) {
  check_range("gamma", gamma, min_gamma(convention), max_known_alpha_gamma);
  check_nonnegative("c", c);
  static_cast<void>(accepted_at_least(mixture, 0));  // checks the parameters of the mixture
  const VaryingYield shortest{1.0, static_cast<double>(min_gamma(convention))};
  return fixed_point(c, shortest, [&](double price) { return yield_at(price, mixture, gamma, convention); });
}

StoppedDrafts optimal_token_stopping(double alpha, double concentration, std::int64_t gamma, double c,
                                     Convention convention) {
  check_tokens(alpha, concentration, gamma);
  check_nonnegative("c", c);
  const VaryingYield shortest{1.0, static_cast<double>(min_gamma(convention))};
  const auto improve = [&](double price) {
    return drafts_at_price(alpha, concentration, price, gamma, convention).yield;
  };
  const VaryingYield best = fixed_point(c, shortest, improve);
  const double price = c * speedup(best.tokens, best.mean_gamma, constant_ratio(c));
  return drafts_at_price(alpha, concentration, price, gamma, convention);
}

}  // namespace foredraft::analytic
