// SPDX-License-Identifier: Apache-2.0
// Stopping by confidence, and the optimum: against quadrature and the Gamma distribution where acceptances are powers
// of uniforms, and against each other on random instances.
#include <boost/math/special_functions/gamma.hpp>
#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/draft_length/draft_length_rules.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

constexpr Convention either_convention[] = {Convention::bonus, Convention::no_bonus};

double speed(const VaryingYield& yield, double c) { return speedup(yield.tokens, yield.mean_gamma, constant_ratio(c)); }

/// P(B_1 ... B_k >= least) for Beta(a, 1).
double powers_of_uniforms(double a, double least, std::int64_t k) {
  return k == 0 ? 1.0 : boost::math::gamma_p(static_cast<double>(k), -a * std::log(least));
}

}  // namespace

TEST_CASE("tokens and drafts under a rejection probability are those of products of powers of uniforms") {
  // alpha s = a, (1 - alpha) s = 1.
  for (const double a : {0.7, 4.0}) {
    for (const double bias : {0.5, 1.0}) {
      for (const Convention convention : either_convention) {
        CAPTURE(a, bias, to_string(convention));
        const double alpha = a / (a + 1.0);
        const double threshold = 0.6;
        const double least = std::pow(1.0 - threshold, 1.0 / bias);
        const StoppedDrafts found = rejection_probability({alpha, a + 1.0, threshold, bias, 7}, convention);
        double drafted = 0.0;
        double tokens = 1.0;
        for (std::int64_t k = 0; k < 7; ++k) {
          drafted += powers_of_uniforms(a, least, k);
          // Those weighted by their acceptance are Beta(a + 1, 1).
          const std::int64_t before = convention == Convention::bonus ? k : k + 1;
          const double reached = std::pow(alpha, k + 1) * powers_of_uniforms(a + 1.0, least, before);
          CHECK(found.reached[static_cast<std::size_t>(k)] == Approx(reached).epsilon(tests::second_route));
          if (k + 1 < max_tokens(7, convention)) tokens += reached;
        }
        CHECK(found.yield.mean_gamma == Approx(drafted).epsilon(tests::second_route));
        CHECK(found.yield.tokens == Approx(tokens).epsilon(tests::second_route));
      }
    }
  }
}

TEST_CASE("a rejection probability of 0 drafts one token, of 1 all, and certain tokens need no distribution") {
  const auto yield = [](double alpha, double threshold) {
    return rejection_probability({alpha, 4.0, threshold, 1.0, 6}, Convention::bonus).yield;
  };
  CHECK(yield(0.8, 0.0).mean_gamma == 1.0);
  CHECK(yield(0.8, 0.0).tokens == Approx(1.8).epsilon(tests::few_ulp));
  CHECK(yield(0.8, 1.0).mean_gamma == 6.0);
  CHECK(yield(0.8, 1.0).tokens == Approx(tokens_per_iteration({0.8, 6, Convention::bonus})).epsilon(tests::few_ulp));
  CHECK(yield(1.0, 0.0).tokens == 7.0);
  CHECK(yield(0.0, 0.9).mean_gamma == 1.0);
  CHECK(yield(0.0, 1.0).mean_gamma == 6.0);
}

TEST_CASE("the confidence of an entropy has that entropy, and none exceeds that of a uniform row") {
  for (const std::int64_t alternatives : {1, 10, 1000}) {
    const auto others = static_cast<double>(alternatives);
    double before = 1.0;
    for (const double root : {0.1, 0.5, 0.8}) {
      const double confidence = confidence_of_entropy(root, alternatives);
      const double rest = 1.0 - confidence;
      CHECK(-confidence * std::log(confidence) - rest * std::log(rest / others) ==
            Approx(root * root).epsilon(tests::solved_root));
      CHECK(confidence < before);
      CHECK(confidence > 1.0 / (others + 1.0));
      before = confidence;
    }
    CHECK(confidence_of_entropy(0.0, alternatives) == 1.0);
    CHECK(confidence_of_entropy(std::sqrt(std::log(others + 1.0)) + 1e-9, alternatives) == 0.0);
  }
  CHECK_THROWS_AS(confidence_of_entropy(-0.1, 10), DomainError);
  CHECK_THROWS_AS(confidence_of_entropy(0.5, 0), DomainError);
}

TEST_CASE("no policy beats optimal stopping, and it never beats the oracle, on 150 random instances") {
  RandomStream random(43, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int instance = 0; instance < 150; ++instance) {
    const Convention convention = either_convention[instance % 2];
    const double alpha = random.uniform();
    const double concentration = std::pow(10.0, 6.0 * random.uniform() - 2.0);
    const double bias = std::pow(4.0, 2.0 * random.uniform() - 1.0);
    const double c = std::pow(10.0, -2.5 * random.uniform());
    const auto gamma = static_cast<std::int64_t>(1 + random.next_u32() % 20);
    CAPTURE(instance, alpha, concentration, bias, c, gamma);
    const double best = speed(optimal_token_stopping(alpha, concentration, gamma, c, convention).yield, c);
    const double allowed = best * (1.0 + tests::solved_root);
    for (int policy = 0; policy < 5; ++policy) {
      const double threshold = random.uniform();
      CHECK(speed(confidence_threshold({alpha, concentration, threshold, bias, gamma}, convention), c) <= allowed);
      CHECK(speed(rejection_probability({alpha, concentration, threshold, bias, gamma}, convention).yield, c) <=
            allowed);
    }
    const std::int64_t length = std::max<std::int64_t>(1, gamma / 2);
    CHECK(speedup(tokens_per_iteration({alpha, length, convention}), length, c, Drafting::autoregressive) <= allowed);
    CHECK(best <= oracle_speedup(alpha, constant_ratio(c), convention) * (1.0 + tests::solved_root));
  }
}

TEST_CASE("a rejection probability equal to the cost of a draft is the best policy that knows only drafted tokens") {
  // The next draft gains if its token is emitted with a probability above c S, that is if alpha times the product of
  // the calibrated confidences so far exceeds c S: h = 1 - c S / alpha [Huang2024, Thm. 3.1].
  for (const double alpha : {0.6, 0.8, 0.95}) {
    for (const double concentration : {0.5, 2.0, 20.0}) {
      CAPTURE(alpha, concentration);
      constexpr double c = 0.05;
      const auto at = [&](double threshold) {
        return speed(rejection_probability({alpha, concentration, threshold, 1.0, 20}, Convention::bonus).yield, c);
      };
      double reached = 1.0;
      for (int round = 0; round < 20; ++round) reached = at(1.0 - c * reached / alpha);
      for (double threshold = 0.0; threshold <= 1.0; threshold += 0.05) {
        CHECK(at(threshold) <= reached * (1.0 + tests::solved_root));
        CHECK(speed(confidence_threshold({alpha, concentration, threshold, 1.0, 20}, Convention::bonus), c) <=
              reached * (1.0 + tests::solved_root));
      }
      CHECK(reached < speed(optimal_token_stopping(alpha, concentration, 20, c, Convention::bonus).yield, c));
    }
  }
}

TEST_CASE("for equally likely tokens optimal stopping is the best constant gamma, for certain ones the oracle") {
  constexpr double c = 0.05;
  const StoppedDrafts alike = optimal_token_stopping(0.8, 1e9, 40, c, Convention::bonus);
  const auto best = best_gamma({0.8, c, Convention::bonus, Drafting::autoregressive});
  CHECK(speed(alike.yield, c) == Approx(best.speedup).epsilon(tests::solved_root));
  CHECK(alike.yield.mean_gamma == Approx(static_cast<double>(*best.gamma)).epsilon(tests::solved_root));
  const StoppedDrafts certain = optimal_token_stopping(0.8, 1e-6, 400, c, Convention::bonus);
  CHECK(speed(certain.yield, c) == Approx(oracle_speedup(0.8, constant_ratio(c))).epsilon(1e-4));
  const StoppedDrafts no_bonus = optimal_token_stopping(0.8, 1e-6, 400, c, Convention::no_bonus);
  CHECK(speed(no_bonus.yield, c) == Approx(oracle_speedup(0.8, constant_ratio(c), Convention::no_bonus)).epsilon(1e-4));
  CHECK(optimal_token_stopping(0.0, 2.0, 9, 0.0, Convention::bonus).yield.mean_gamma == 0.0);
  CHECK(optimal_token_stopping(1.0, 2.0, 9, 0.1, Convention::bonus).yield.mean_gamma == 9.0);
  CHECK_THROWS_AS(optimal_token_stopping(0.5, 0.0, 9, 0.1, Convention::bonus), DomainError);
  CHECK_THROWS_AS(optimal_token_stopping(0.5, 2.0, 0, 0.1, Convention::bonus), DomainError);
  CHECK_THROWS_AS(optimal_token_stopping(0.5, 2.0, 9, -0.1, Convention::bonus), DomainError);
}

}  // namespace foredraft::analytic
