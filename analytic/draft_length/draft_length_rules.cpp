// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/draft_length_rules.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <cstdint>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"

namespace foredraft::analytic {
namespace {

/// -log(alpha) - (1 - alpha) > 0, which the subtraction would lose near alpha = 1.
double log_excess(double alpha) {
  return alpha >= 0.5 ? -boost::math::log1pmx(alpha - 1.0) : -std::log(alpha) - (1.0 - alpha);
}

}  // namespace

double DraftLengthRule::real_tokens() const {
  const double a = stable::negative_log(alpha, 1.0 - alpha);
  // In logarithms, because 1/c overflows for a subnormal c.
  const double log_excess_cost = (convention == Convention::bonus ? std::log1p(-c) : 0.0) - std::log(c);
  return stable::inverse_expm1_minus_x(std::log(a) + log_excess_cost) / a;
}

bool DraftLengthRule::long_enough(std::int64_t n) const {
  const double complement = 1.0 - alpha;
  const auto tokens = static_cast<double>(n);
  // (1 - alpha) H(n) = expm1(a n) - n (1 - alpha), split into two positive parts.
  const double exponent = tokens * stable::negative_log(alpha, complement);
  const double gain = stable::expm1_minus_x(exponent) + tokens * log_excess(alpha);
  const double threshold = complement * (convention == Convention::bonus ? 1.0 - c : 1.0) / c;
  // The relative error of e^x is x * 1.1e-16, and x <= 745 wherever it is finite.
  constexpr double relative_error = 1e-12;
  if (gain > threshold * (1.0 + relative_error)) return true;
  if (gain < threshold * (1.0 - relative_error)) return false;
  return exact::one_more_does_not_pay(alpha, c, n, convention == Convention::bonus ? n - 1 : n);
}

std::int64_t DraftLengthRule::best_tokens() const {
  // The speedup is unimodal in real n, so the best integer is beside the real optimum. n stays below 7e18 because a >=
  // 1.1e-16 and a K < 1e308. For large n a double has a relative precision of only 1e-16, hence the bracket.
  const double real = real_tokens();
  constexpr double relative_error = 1e-13;
  auto too_short = static_cast<std::int64_t>(std::max(0.0, std::floor(real * (1.0 - relative_error)) - 1.0));
  auto enough = static_cast<std::int64_t>(std::ceil(real * (1.0 + relative_error))) + 1;
  while (enough - too_short > 1) {
    const std::int64_t middle = too_short + (enough - too_short) / 2;
    (long_enough(middle) ? enough : too_short) = middle;
  }
  return enough;
}

namespace {

/// [g - 1]: alpha^g up to a length that the chain exceeds with a probability below 1e-20: the equilibrium plus twelve
/// standard deviations of the diffusion around it (variance 1 / -ln alpha) and a margin for small alpha, where there
/// are few lengths.
std::vector<double> uncapped_marginal(double alpha) {
  check_probability("alpha", alpha);
  if (alpha > plus2_minus1_largest_alpha) {
    throw DomainError(
        "invalid alpha (must be at most 1 - 1e-6 without a cap on gamma: the length grows without bound)");
  }
  constexpr double deviations = 12.0;
  constexpr double margin = 64.0;
  const double a = alpha > 0.0 ? stable::negative_log(alpha, 1.0 - alpha) : 1.0;
  const auto cap =
      static_cast<std::int64_t>(std::ceil(plus2_minus1_equilibrium(alpha) + deviations / std::sqrt(a) + margin));
  std::vector<double> marginal;
  for (std::int64_t g = 1; g <= cap; ++g) marginal.push_back(std::pow(alpha, static_cast<double>(g)));
  return marginal;
}

}  // namespace

std::vector<double> plus2_minus1_law(std::span<const double> marginal) {
  check_marginal(marginal);
  const std::size_t cap = marginal.size();
  // The flow up across the cut between g and g + 1 comes from g and from g - 1, the flow down only from g + 1: pi(g+1)
  // (1 - m(g+1)) = pi(g) m(g) + pi(g-1) m(g-1), a recursion of positive terms. Lengths below the last one that is
  // accepted with certainty are transient.
  std::size_t first = 0;
  while (first + 1 < cap && marginal[first + 1] == 1.0) ++first;
  std::vector<double> law(cap, 0.0);
  law[first] = 1.0;
  constexpr double large = 1e250;
  std::size_t cleared = first;  // entries before it are 0
  std::size_t window = first;   // entries before it are negligible compared with the present ones
  for (std::size_t g = first + 1; g < cap; ++g) {
    const double from_two_below = g >= first + 2 ? law[g - 2] * marginal[g - 2] : 0.0;
    law[g] = (law[g - 1] * marginal[g - 1] + from_two_below) / (1.0 - marginal[g]);
    if (law[g] < large) continue;
    for (; cleared < window; ++cleared) law[cleared] = 0.0;
    for (std::size_t i = window; i <= g; ++i) law[i] /= large;
    window = g - 1;
  }
  CompensatedSum total;
  for (const double mass : law) total.add(mass);
  for (double& mass : law) mass /= total.value();
  return law;
}

std::vector<double> plus2_minus1_law(double alpha) { return plus2_minus1_law(uncapped_marginal(alpha)); }

VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention) {
  const std::vector<double> law = plus2_minus1_law(marginal);
  CompensatedSum tokens;
  CompensatedSum drafted;
  CompensatedSum yield;  // of an iteration of g drafts
  yield.add(1.0);
  for (std::size_t g = 1; g <= law.size(); ++g) {
    if (convention == Convention::bonus) yield.add(marginal[g - 1]);
    tokens.add(law[g - 1] * yield.value());
    drafted.add(law[g - 1] * static_cast<double>(g));
    if (convention == Convention::no_bonus) yield.add(marginal[g - 1]);
  }
  return {tokens.value(), drafted.value()};
}

VaryingYield plus2_minus1(double alpha, Convention convention) {
  return plus2_minus1(uncapped_marginal(alpha), convention);
}

double plus2_minus1_equilibrium(double alpha) {
  check_probability("alpha", alpha);
  return std::log(3.0) / stable::negative_log(alpha, 1.0 - alpha);
}

namespace {

constexpr std::int64_t longest_draft = std::int64_t{1} << 24U;

void check_between(std::string_view name, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in [{}, {}])", name, value, low, high));
  }
}

void check(const ConfidenceThreshold& policy) {
  check_probability("alpha", policy.alpha);
  check_between("concentration", policy.concentration, 1e-6, 1e9);
  check_probability("threshold", policy.threshold);
  check_between("bias", policy.bias, 1e-3, 1e3);
  check_range("gamma", policy.gamma, 1, longest_draft);
}

}  // namespace

GoOn go_on(const ConfidenceThreshold& policy) {
  check(policy);
  const auto [alpha, concentration, threshold, bias, gamma] = policy;
  if (threshold == 0.0) return {1.0, alpha};
  if (alpha == 0.0) return {0.0, 0.0};
  if (alpha == 1.0) return {1.0, 1.0};
  // The acceptance probability x whose confidence is the threshold; 1 - x is computed separately, as x may be close to
  // 1.
  const double log_x = std::log(threshold) / bias;
  const double below_one = -std::expm1(log_x);
  const double a = alpha * concentration;
  const double b = (1.0 - alpha) * concentration;
  // P(Beta(a, b) >= x) = P(Beta(b, a) <= 1 - x); E[x; x >= t] = a / (a + b) P(Beta(a + 1, b) >= t).
  return {boost::math::ibeta(b, a, below_one), alpha * boost::math::ibeta(b, a + 1.0, below_one)};
}

std::vector<double> reached(const ConfidenceThreshold& policy, Convention convention) {
  const double accepted = go_on(policy).accepted;
  std::vector<double> result;
  double product = convention == Convention::bonus ? policy.alpha : accepted;
  for (std::int64_t k = 0; k < policy.gamma; ++k) {
    result.push_back(product);
    product *= accepted;
  }
  return result;
}

VaryingYield confidence_threshold(const ConfidenceThreshold& policy, Convention convention) {
  const auto [probability, accepted] = go_on(policy);
  const double drafted = stable::geometric_sum(probability, 1.0 - probability, policy.gamma);
  const double tested = stable::geometric_sum(accepted, 1.0 - accepted, policy.gamma);
  // Without a bonus token the last position yields its token whether the draft is accepted or corrected.
  return {convention == Convention::bonus ? 1.0 + policy.alpha * tested : tested, drafted};
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
  const auto most = static_cast<std::int64_t>(conditional.size());
  for (std::size_t i = 0; length.gamma < most; ++i) {
    survival *= conditional[i];
    if (!(survival > price)) break;
    length.tokens += survival;
    ++length.gamma;
  }
  return length;
}

/// Drafts and expected tokens at a price, for alpha drawn from Beta(a, b): draft i is made while alpha^j > price, j = i
/// or i - 1.
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

/// Iterates the speedup to the fixed point of `improve`, which returns drafts and tokens of the best policy at a price.
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

}  // namespace foredraft::analytic
