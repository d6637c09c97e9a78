// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/token_count.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analytic/draft_length/best_gamma.hpp"
#include "core/marginals.hpp"
#include "core/random_stream.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;

// Every position differs from every other, so an index off by one is detected.
const std::vector<double> conditional{0.9, 0.75, 0.6, 0.85, 0.4};

/// P(X = k) at index k - 1 from the conditionals, by all 2^gamma accept/reject patterns.
std::vector<Real> enumerated_pmf(std::int64_t gamma, Convention convention) {
  std::vector<Real> pmf(static_cast<std::size_t>(max_tokens(gamma, convention)), Real(0));
  for (unsigned pattern = 0; pattern < (1U << static_cast<unsigned>(gamma)); ++pattern) {
    Real probability = 1;
    std::int64_t accepted = 0;
    for (std::int64_t i = 0; i < gamma; ++i) {
      const bool accept = (pattern >> static_cast<unsigned>(i) & 1U) != 0;
      const Real rate = conditional[static_cast<std::size_t>(i)];
      probability *= accept ? rate : Real(1 - rate);
      if (accept && accepted == i) ++accepted;
    }
    const bool full = accepted == gamma && convention == Convention::no_bonus;
    pmf[static_cast<std::size_t>(full ? accepted - 1 : accepted)] += probability;
  }
  return pmf;
}

}  // namespace

TEST_CASE("the positional token distribution matches an enumeration of all patterns, under both conventions") {
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const std::vector<double> marginal = marginal_from_conditional(conditional);
  for (std::int64_t gamma = min_gamma(convention); gamma <= 5; ++gamma) {
    CAPTURE(gamma, convention == Convention::bonus);
    const std::vector<Real> expected = enumerated_pmf(gamma, convention);
    const std::vector<double> pmf = tokens_pmf(marginal, gamma, convention);
    REQUIRE(pmf.size() == expected.size());
    Real mean = 0;
    for (std::size_t i = 0; i < pmf.size(); ++i) {
      CHECK(relative_error(pmf[i], expected[i]) < few_ulp);
      mean += Real(i + 1) * expected[i];
    }
    Real variance = 0;
    for (std::size_t i = 0; i < pmf.size(); ++i) {
      variance += expected[i] * (Real(i + 1) - mean) * (Real(i + 1) - mean);
    }
    CHECK(relative_error(tokens_per_iteration(marginal, gamma, convention), mean) < few_ulp);
    CHECK(relative_error(tokens_variance(marginal, gamma, convention), variance) < few_ulp);
  }
}

TEST_CASE("marginals and conditionals convert into each other, with no rate after a certain rejection") {
  const std::vector<double> marginal = marginal_from_conditional(conditional);
  CHECK(marginal[0] == 0.9);
  CHECK(marginal[2] == Approx(0.405).epsilon(few_ulp));
  const std::vector<double> back = conditional_from_marginal(marginal);
  REQUIRE(back.size() == conditional.size());
  for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == Approx(conditional[i]).epsilon(few_ulp));

  CHECK(conditional_from_marginal(std::vector<double>{0.5, 0.0, 0.0}) == std::vector<double>{0.5, 0.0, 0.0});
  CHECK(marginal_from_conditional(std::vector<double>{1.0, 0.0, 1.0}) == std::vector<double>{1.0, 0.0, 0.0});
  CHECK(conditional_from_marginal(std::vector<double>{1.0, 1.0, 0.5}) == std::vector<double>{1.0, 1.0, 0.5});
}

TEST_CASE(
    "equal conditionals give the i.i.d. distribution, and nearly certain ones keep the precision of the variance") {
  const double alpha = GENERATE(0.0, 0.8, 1.0 - 1e-12, 1.0);
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const std::vector<double> marginal = marginal_from_conditional(std::vector<double>(40, alpha));
  CHECK(tokens_per_iteration(marginal, 40, convention) ==
        Approx(tokens_per_iteration({alpha, 40, convention})).epsilon(few_ulp));
  // Each marginal near 1 is a rounded double: 1 - m is known to 1.1e-16 of 1e-12 at best.
  constexpr double rounded_complement = 1.1e-4;
  const double rounding = alpha > 0.9 && alpha < 1.0 ? rounded_complement : few_ulp;
  CHECK(tokens_variance(marginal, 40, convention) ==
        Approx(tokens_variance({alpha, 40, convention})).epsilon(rounding));
}

TEST_CASE("the variance about the mean does not cancel when nearly all drafts are accepted") {
  // X is 3 except with probability 2^-50 (2) and 2^-51 (1): marginals held exactly.
  const std::vector<double> marginal{1.0 - 0x1p-51, 1.0 - 0x1p-51 - 0x1p-50};
  const Real mean = 3 - Real(0x1p-50) - 2 * Real(0x1p-51);
  const Real variance = Real(0x1p-51) * (1 - mean) * (1 - mean) + Real(0x1p-50) * (2 - mean) * (2 - mean) +
                        Real(marginal[1]) * (3 - mean) * (3 - mean);
  CHECK(relative_error(tokens_variance(marginal, 2, Convention::bonus), variance) < few_ulp);
}

TEST_CASE("the positional optimum is the first maximizer over all draft lengths of the vector") {
  RandomStream random(7, {Purpose::test, 0, 0});
  for (int round = 0; round < 400; ++round) {
    std::vector<double> marginal(1 + random.next_u32() % 12);
    // Eighths make ties common; the second half of the rounds is generic.
    for (double& m : marginal) m = round < 200 ? random.next_u32() % 9 / 8.0 : random.uniform();
    std::sort(marginal.rbegin(), marginal.rend());
    const double c = round % 5 == 0 ? 0.0 : (round < 200 ? random.next_u32() % 17 / 16.0 : random.uniform());
    for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
      for (const Drafting drafting : {Drafting::autoregressive, Drafting::block}) {
        CAPTURE(marginal, c, convention == Convention::bonus, drafting == Drafting::block);
        std::int64_t expected = -1;
        Real best = 0;
        for (std::int64_t gamma = min_gamma(convention); gamma <= static_cast<std::int64_t>(marginal.size()); ++gamma) {
          Real tokens = 1;
          for (std::int64_t i = 0; i + 1 < max_tokens(gamma, convention); ++i)
            tokens += marginal[static_cast<std::size_t>(i)];
          const Real speedup = tokens / (1 + draft_passes(gamma, drafting) * Real(c));
          if (speedup > best) {
            best = speedup;
            expected = gamma;
          }
        }
        const BestGamma found = best_gamma(marginal, c, convention, drafting);
        CHECK(found.gamma == expected);
        CHECK(relative_error(found.speedup, best) < few_ulp);
      }
    }
  }
}

TEST_CASE("with equal conditionals the positional optimum is the i.i.d. one, capped at the vector") {
  const std::vector<double> marginal = marginal_from_conditional(std::vector<double>(30, 0.8));
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (const double c : {0.05, 0.2, 0.9}) {
      CHECK(best_gamma(marginal, c, convention, Drafting::autoregressive).gamma ==
            best_gamma({0.8, c, convention, Drafting::autoregressive}).gamma);
    }
  }
  const std::span<const double> first_five = std::span(marginal).first(5);
  CHECK(best_gamma(first_five, 0.05, Convention::bonus, Drafting::autoregressive).gamma == 5);
}

TEST_CASE("marginals that rise are rejected") {
  const std::vector<double> rising{0.5, 0.6};
  const std::string message =
      "invalid marginal[1]=0.6 (must not rise above marginal[0]=0.5; did you mean conditional acceptances?)";
  CHECK_THROWS_WITH(conditional_from_marginal(rising), message);
}

}  // namespace foredraft::analytic
