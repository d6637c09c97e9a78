// SPDX-License-Identifier: Apache-2.0
// Stopping at low confidence: Beta tails against direct quadrature of the Beta density, and the token distribution
// against an enumeration of all outcomes of each token.
#include "analytic/draft_length/draft_length_rules.hpp"

#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

ConfidentDrafter policy_of(double alpha, double concentration, double threshold, double bias, std::int64_t gamma) {
  return {.alpha = alpha, .concentration = concentration, .threshold = threshold, .bias = bias, .gamma = gamma};
}

/// Tokens and drafts of an iteration, by enumerating all outcomes: each token is one of four kinds (confident or not,
/// accepted or not).
struct Enumerated {
  double tokens = 0.0;
  double drafted = 0.0;
  std::vector<double> pmf;
};
void walk(const GoOn& go_on, double alpha, std::int64_t gamma, Convention convention, double probability,
          std::int64_t drafted, std::int64_t accepted, bool alive, bool goes_on, Enumerated& result) {
  if (!goes_on || drafted == gamma) {
    const std::int64_t tokens = std::min(accepted + 1, max_tokens(drafted, convention));
    result.tokens += probability * static_cast<double>(tokens);
    result.drafted += probability * static_cast<double>(drafted);
    result.pmf[static_cast<std::size_t>(tokens - 1)] += probability;
    return;
  }
  const double kinds[2][2] = {{(1.0 - go_on.probability) - (alpha - go_on.accepted), alpha - go_on.accepted},
                              {go_on.probability - go_on.accepted, go_on.accepted}};
  for (const bool confident : {false, true}) {
    for (const bool accept : {false, true}) {
      walk(go_on, alpha, gamma, convention, probability * kinds[confident ? 1 : 0][accept ? 1 : 0], drafted + 1,
           accepted + (alive && accept ? 1 : 0), alive && accept, confident, result);
    }
  }
}

}  // namespace

TEST_CASE("the probabilities of continuing and of acceptance are integrals of the Beta density above the threshold") {
  for (const double alpha : {0.2, 0.8}) {
    for (const double concentration : {1.5, 6.0, 40.0}) {
      for (const double bias : {0.5, 1.0, 3.0}) {
        for (const double threshold : {0.05, 0.4, 0.9}) {
          CAPTURE(alpha, concentration, bias, threshold);
          const double a = alpha * concentration;
          const double b = (1.0 - alpha) * concentration;
          const double least = std::pow(threshold, 1.0 / bias);
          // In the distance to 1, where the density may be infinite.
          boost::math::quadrature::tanh_sinh<double> quadrature;
          const auto density = [&](double y) {
            return std::pow(1.0 - y, a - 1.0) * std::pow(y, b - 1.0) / boost::math::beta(a, b);
          };
          const double go = quadrature.integrate(density, 0.0, 1.0 - least);
          const double accept =
              quadrature.integrate([&](double y) { return (1.0 - y) * density(y); }, 0.0, 1.0 - least);
          const GoOn result = go_on(policy_of(alpha, concentration, threshold, bias, 4));
          CHECK(result.probability == Approx(go).epsilon(tests::solved_root));
          CHECK(result.accepted == Approx(accept).epsilon(tests::solved_root));
        }
      }
    }
  }
}

TEST_CASE("tokens, their distribution and drafts match an enumeration of all outcomes of a draft") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (const double threshold : {0.0, 0.3, 0.8, 1.0}) {
      for (const std::int64_t gamma : {1, 2, 5}) {
        CAPTURE(threshold, gamma, to_string(convention));
        const ConfidentDrafter policy = policy_of(0.7, 3.0, threshold, 1.0, gamma);
        Enumerated expected;
        expected.pmf.assign(static_cast<std::size_t>(max_tokens(gamma, convention)), 0.0);
        walk(go_on(policy), 0.7, gamma, convention, 1.0, 0, 0, true, true, expected);
        const VaryingYield yield = confidence_threshold(policy, convention);
        CHECK(yield.tokens == Approx(expected.tokens).epsilon(second_route));
        CHECK(yield.mean_gamma == Approx(expected.drafted).epsilon(second_route));
        const std::vector<double> pmf = tokens_pmf(reached(policy, convention), gamma, convention);
        for (std::size_t k = 0; k < pmf.size(); ++k) CHECK(pmf[k] == Approx(expected.pmf[k]).margin(second_route));
      }
    }
  }
}

TEST_CASE("a threshold of 0 always drafts gamma tokens, one of 1 drafts one") {
  const ConfidentDrafter none = policy_of(0.8, 5.0, 0.0, 1.0, 7);
  CHECK(confidence_threshold(none, Convention::bonus).mean_gamma == 7.0);
  CHECK(confidence_threshold(none, Convention::bonus).tokens ==
        Approx(tokens_per_iteration({0.8, 7, Convention::bonus})).epsilon(few_ulp));
  const ConfidentDrafter all = policy_of(0.8, 5.0, 1.0, 1.0, 7);
  CHECK(confidence_threshold(all, Convention::bonus).mean_gamma == 1.0);
  CHECK(confidence_threshold(all, Convention::bonus).tokens == Approx(1.8).epsilon(few_ulp));
}

TEST_CASE("certain acceptance, certain rejection and distributions near one or two points reach their limits") {
  CHECK(confidence_threshold(policy_of(1.0, 5.0, 0.9, 1.0, 6), Convention::bonus).tokens == 7.0);
  CHECK(confidence_threshold(policy_of(0.0, 5.0, 0.9, 1.0, 6), Convention::bonus).mean_gamma == 1.0);
  // All tokens equal: always confident, or never.
  const VaryingYield alike = confidence_threshold(policy_of(0.8, 1e9, 0.7, 1.0, 6), Convention::bonus);
  CHECK(alike.mean_gamma == Approx(6.0).epsilon(tests::solved_root));
  CHECK(confidence_threshold(policy_of(0.8, 1e9, 0.9, 1.0, 6), Convention::bonus).mean_gamma ==
        Approx(1.0).epsilon(tests::solved_root));
  // Each token certain: the drafter stops right after the first one that will be rejected; only that one is wasted.
  const VaryingYield sure = confidence_threshold(policy_of(0.8, 1e-6, 0.5, 1.0, 400), Convention::bonus);
  CHECK(sure.mean_gamma == Approx(5.0).epsilon(1e-4));
  CHECK(sure.tokens == Approx(5.0).epsilon(1e-4));
}

TEST_CASE("a confidence threshold rejects invalid probabilities, shapes and lengths") {
  CHECK_THROWS_AS(go_on(policy_of(1.1, 5.0, 0.5, 1.0, 6)), DomainError);
  CHECK_THROWS_AS(go_on(policy_of(0.5, 0.0, 0.5, 1.0, 6)), DomainError);
  CHECK_THROWS_AS(go_on(policy_of(0.5, 5.0, -0.1, 1.0, 6)), DomainError);
  CHECK_THROWS_AS(go_on(policy_of(0.5, 5.0, 0.5, std::nan(""), 6)), DomainError);
  CHECK_THROWS_AS(go_on(policy_of(0.5, 5.0, 0.5, 1.0, 0)), DomainError);
}

}  // namespace foredraft::analytic
