// SPDX-License-Identifier: Apache-2.0
// Optimal stopping against all policies, on random instances small enough to enumerate.
#include "analytic/draft_length/draft_length_rules.hpp"

#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

double tokens_of(const std::vector<double>& conditional, std::int64_t gamma, Convention convention) {
  return tokens_per_iteration(marginal_from_conditional(conditional), gamma, convention);
}

/// Largest tokens over time of all choices of a length for each scenario.
double best_of_all(const std::vector<DraftScenario>& scenarios, double c, Convention convention) {
  const std::int64_t least = min_gamma(convention);
  std::vector<std::int64_t> gamma(scenarios.size(), least);
  double best = 0.0;
  for (;;) {
    double tokens = 0.0;
    double cost = 1.0;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      tokens += scenarios[i].probability * tokens_of(scenarios[i].conditional, gamma[i], convention);
      cost += scenarios[i].probability * static_cast<double>(gamma[i]) * c;
    }
    best = std::max(best, tokens / cost);
    std::size_t place = 0;
    while (place < gamma.size() && gamma[place] == static_cast<std::int64_t>(scenarios[place].conditional.size())) {
      gamma[place++] = least;
    }
    if (place == gamma.size()) return best;
    ++gamma[place];
  }
}

}  // namespace

TEST_CASE("no choice of draft lengths beats optimal stopping on 400 random instances") {
  RandomStream random(42, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int instance = 0; instance < 400; ++instance) {
    const Convention convention = instance % 2 == 0 ? Convention::bonus : Convention::no_bonus;
    std::vector<DraftScenario> scenarios(1 + static_cast<std::size_t>(random.next_u32() % 3));
    double total = 0.0;
    for (DraftScenario& scenario : scenarios) {
      scenario.probability = 0.1 + random.uniform();
      total += scenario.probability;
      const std::size_t length = 1 + static_cast<std::size_t>(random.next_u32() % 5);
      for (std::size_t i = 0; i < length; ++i) scenario.conditional.push_back(std::sqrt(random.uniform()));
    }
    for (DraftScenario& scenario : scenarios) scenario.probability /= total;
    const double c = instance % 7 == 0 ? 0.0 : random.uniform();
    CAPTURE(instance, c);
    const StoppingPlan plan = optimal_stopping(scenarios, c, convention);
    CHECK(plan.speedup == Approx(best_of_all(scenarios, c, convention)).epsilon(second_route));
    // The stated yield of the plan is that of its lengths.
    double tokens = 0.0;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      tokens += scenarios[i].probability * tokens_of(scenarios[i].conditional, plan.gamma[i], convention);
    }
    CHECK(plan.yield.tokens == Approx(tokens).epsilon(second_route));
  }
}

TEST_CASE("with one acceptance for all drafts optimal stopping drafts the best constant gamma") {
  constexpr std::size_t longest = 400;
  for (const double alpha : {0.0, 0.2, 0.8, 0.95}) {
    for (const double c : {0.02, 0.1, 0.5, 1.5}) {
      for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
        CAPTURE(alpha, c, to_string(convention));
        const std::vector<DraftScenario> one{{1.0, std::vector<double>(longest, alpha)}};
        const StoppingPlan plan = optimal_stopping(one, c, convention);
        const BestGamma best = best_gamma(IidSetting{alpha, c, convention, Drafting::autoregressive});
        CHECK(plan.gamma.front() == best.gamma.value());
        CHECK(plan.speedup == Approx(best.speedup).epsilon(second_route));
      }
    }
  }
}

TEST_CASE("knowing alpha of each iteration yields the quadrature over alpha, and more than any constant gamma") {
  for (const auto& [a, b] : {std::pair{4.0, 1.0}, std::pair{0.5, 0.5}, std::pair{2.0, 3.0}}) {
    for (const double c : {0.05, 0.3}) {
      for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
        constexpr std::int64_t longest = 12;
        CAPTURE(a, b, c, to_string(convention));
        const VaryingYield yield = optimal_stopping(BetaMixture{a, b}, longest, c, convention);
        const double reached =
            speedup(yield.tokens, mean_draft_passes(yield.mean_gamma, Drafting::autoregressive), constant_ratio(c));
        // Means over 20,000 equal slices of the distribution, the length of each by comparing all of them.
        double tokens = 0.0;
        double drafted = 0.0;
        constexpr int slices = 20'000;
        for (int i = 0; i < slices; ++i) {
          const double alpha = boost::math::ibeta_inv(a, b, (i + 0.5) / slices);
          double maximum = -1e300;
          std::int64_t best = 0;
          for (std::int64_t gamma = min_gamma(convention); gamma <= longest; ++gamma) {
            const double gain =
                tokens_per_iteration({alpha, gamma, convention}) - reached * c * static_cast<double>(gamma);
            if (gain > maximum) {
              maximum = gain;
              best = gamma;
            }
          }
          tokens += tokens_per_iteration({alpha, best, convention}) / slices;
          drafted += static_cast<double>(best) / slices;
        }
        constexpr double of_slices = 1e-3;   // some lengths change inside a slice
        constexpr double of_the_end = 1e-5;  // the last slice, where the quantile has an infinite slope: 20,000^(-4/3)
        CHECK(yield.tokens == Approx(tokens).epsilon(of_slices));
        CHECK(yield.mean_gamma == Approx(drafted).epsilon(of_slices));
        CHECK(reached == Approx(tokens / (1.0 + c * drafted)).epsilon(of_the_end));
        for (std::int64_t gamma = min_gamma(convention); gamma <= longest; ++gamma) {
          const double constant = tokens_per_iteration(BetaMixture{a, b}, gamma, convention);
          CHECK(reached >= speedup(constant, gamma, c, Drafting::autoregressive) * (1.0 - few_ulp));
        }
      }
    }
  }
}

TEST_CASE("optimal stopping rejects scenarios without a distribution and negative costs") {
  const std::vector<DraftScenario> half{{0.5, {0.5}}};
  CHECK_THROWS_AS(optimal_stopping(half, 0.1, Convention::bonus), DomainError);
  CHECK_THROWS_AS(optimal_stopping(std::vector<DraftScenario>{}, 0.1, Convention::bonus), DomainError);
  CHECK_THROWS_AS(optimal_stopping(std::vector<DraftScenario>{{1.0, {}}}, 0.1, Convention::no_bonus), DomainError);
  CHECK_THROWS_AS(optimal_stopping(std::vector<DraftScenario>{{1.0, {0.5}}}, -0.1, Convention::bonus), DomainError);
  CHECK_THROWS_AS(optimal_stopping(BetaMixture{1.0, 1.0}, 5, std::nan(""), Convention::bonus), DomainError);
  CHECK_THROWS_AS(optimal_stopping(BetaMixture{0.0, 1.0}, 5, 0.1, Convention::bonus), DomainError);
}

}  // namespace foredraft::analytic
