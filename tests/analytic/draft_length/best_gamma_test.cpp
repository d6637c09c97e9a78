// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/best_gamma.hpp"

#include <boost/math/special_functions/lambert_w.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/token_count.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::iid_speedup;
using tests::LongReal;
using tests::Real;
using tests::relative_error;

constexpr double infinity = std::numeric_limits<double>::infinity();

IidSetting autoregressive(double alpha, double c, Convention convention) {
  return {.alpha = alpha, .c = c, .convention = convention, .drafting = Drafting::autoregressive};
}

IidSetting block(double alpha, double c, Convention convention) {
  return {.alpha = alpha, .c = c, .convention = convention, .drafting = Drafting::block};
}

/// The first maximizer of the speedup over all gamma below `end`, from the definition.
struct BruteForce {
  std::int64_t gamma;
  Real speedup;
};
BruteForce brute_force(double alpha, double c, Convention convention, std::int64_t end) {
  BruteForce best{-1, Real(0)};
  Real tokens = 1;
  Real survival = 1;
  for (std::int64_t gamma = min_gamma(convention); gamma < end; ++gamma) {
    if (gamma > min_gamma(convention)) tokens += (survival *= alpha);
    const Real speedup = tokens / (1 + gamma * Real(c));
    if (speedup > best.speedup) best = {gamma, speedup};
  }
  return best;
}

/// Strictly better than one draft fewer, at least as good as one more: the first optimum, as the speedup is unimodal.
void check_first_optimum(const IidSetting& setting) {
  CAPTURE(setting.alpha, setting.c, setting.convention == Convention::bonus);
  const BestGamma best = best_gamma(setting);
  REQUIRE(best.gamma.has_value());
  const auto speedup = [&](std::int64_t gamma) {
    return iid_speedup(setting.alpha, setting.c, gamma, setting.convention, setting.drafting);
  };
  const LongReal at_best = speedup(*best.gamma);
  CHECK(at_best >= speedup(*best.gamma + 1));
  CHECK((*best.gamma == min_gamma(setting.convention) || at_best > speedup(*best.gamma - 1)));
  CHECK(relative_error(best.speedup, at_best) < few_ulp);
}

}  // namespace

TEST_CASE("the closed rule finds the brute-force optimum over 1200 draft lengths on a 49 by 7 grid") {
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  for (int i = 1; i <= 49; ++i) {
    const double alpha = i / 50.0;
    for (const double c : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9}) {
      CAPTURE(alpha, c, convention == Convention::bonus);
      const BruteForce expected = brute_force(alpha, c, convention, 1200);
      const BestGamma best = best_gamma(autoregressive(alpha, c, convention));
      REQUIRE(best.gamma.has_value());
      CHECK(*best.gamma == expected.gamma);
      CHECK(relative_error(best.speedup, expected.speedup) < few_ulp);
    }
  }
}

TEST_CASE("the optimum is exact at every limit of alpha and c, up to drafts of 1e18 tokens") {
  const double alpha =
      GENERATE(5e-324, 1e-300, 1e-200, 1e-15, 0.05, 0.5, 0.8, 0.99, 0.9999, 1.0 - 1e-8, 1.0 - 1e-15, 1.0 - 0x1p-53);
  const double c = GENERATE(5e-324, 1e-310, 1e-300, 1e-280, 1e-15, 1e-3, 0.04, 0.25, 0.5, 0.75, 1.0 - 1e-10,
                            1.0 - 0x1p-53, 1.0, 3.0, 1e15, 1e300);
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  check_first_optimum(autoregressive(alpha, c, convention));
}

TEST_CASE("at 1 - alpha = 1e-15 and c = 0.5 the best draft has about 4.5e7 tokens") {
  const BestGamma best = best_gamma(autoregressive(1.0 - 1e-15, 0.5, Convention::bonus));
  REQUIRE(best.gamma.has_value());
  const double a = -std::log1p(-(1.0 - (1.0 - 1e-15)));
  // The root of e^x - 1 - x = a is sqrt(2 a) less a/3.
  constexpr double next_term = 1e-7;
  CHECK(static_cast<double>(*best.gamma) == Approx(std::sqrt(2.0 / a)).epsilon(next_term));
}

TEST_CASE("ties go to the smaller gamma, and the smallest change of c breaks them") {
  // S(1) = S(0) exactly at c = alpha, whatever alpha.
  for (const double alpha : {1e-300, 0.1, 0.3, 0.7, 0.9, 1.0 - 1e-15}) {
    CAPTURE(alpha);
    CHECK(best_gamma(autoregressive(alpha, alpha, Convention::bonus)).gamma == 0);
    CHECK(best_gamma(autoregressive(alpha, std::nextafter(alpha, 1.0), Convention::bonus)).gamma == 0);
    CHECK(*best_gamma(autoregressive(alpha, std::nextafter(alpha, 0.0), Convention::bonus)).gamma >= 1);
  }
  // Without a bonus H(1) = 1/alpha - 1 and H(2) = 1/alpha + 1/alpha^2 - 2 meet 1/c at doubles.
  struct Tie {
    double alpha;
    double c;
    std::int64_t gamma;
  };
  for (const Tie& tie : {Tie{0.5, 1.0, 1}, Tie{0.75, 3.0, 1}, Tie{0.875, 7.0, 1}, Tie{0.5, 0.25, 2}}) {
    CAPTURE(tie.alpha, tie.c);
    CHECK(best_gamma(autoregressive(tie.alpha, tie.c, Convention::no_bonus)).gamma == tie.gamma);
    const double less = std::nextafter(tie.c, 0.0);
    CHECK(best_gamma(autoregressive(tie.alpha, less, Convention::no_bonus)).gamma == tie.gamma + 1);
  }
  CHECK(best_gamma(autoregressive(1.0, 1.0, Convention::bonus)).gamma == 0);
  CHECK(best_gamma(autoregressive(0.0, 0.0, Convention::bonus)).gamma == 0);
  CHECK(best_gamma(autoregressive(0.0, 0.0, Convention::no_bonus)).gamma == 1);
}

TEST_CASE("some draft length has a speedup above 1 exactly when alpha exceeds c") {
  for (int i = 0; i <= 100; ++i) {
    for (int j = 0; j <= 110; ++j) {
      const double alpha = i / 100.0;
      const double c = j / 100.0;
      const BestGamma best = best_gamma(autoregressive(alpha, c, Convention::bonus));
      CHECK((best.gamma != 0) == (alpha > c));
      CHECK((best.speedup > 1.0) == (alpha > c));
    }
  }
}

TEST_CASE("the optimum is unbounded, with its limit, if a longer draft always helps") {
  const auto check_unbounded = [](const IidSetting& setting, double limit) {
    CAPTURE(setting.alpha, setting.c);
    const BestGamma best = best_gamma(setting);
    CHECK_FALSE(best.gamma.has_value());
    CHECK((best.speedup == limit || best.speedup == Approx(limit).epsilon(few_ulp)));
  };
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    check_unbounded(autoregressive(0.75, 0.0, convention), 4.0);
    check_unbounded(autoregressive(1.0, 0.0, convention), infinity);
    check_unbounded(autoregressive(1.0, 0.25, convention), 4.0);
    check_unbounded(block(1.0, 0.25, convention), infinity);
    check_unbounded(block(0.75, 0.25, convention), 3.2);
    check_unbounded(block(0.75, 0.0, convention), 4.0);
  }
  // Without a bonus token speculation cannot be declined, and the loss is smallest with the longest draft.
  check_unbounded(autoregressive(1.0, 4.0, Convention::no_bonus), 0.25);
  check_unbounded(block(0.5, 4.0, Convention::no_bonus), 0.4);
  CHECK(best_gamma(autoregressive(1.0, 4.0, Convention::bonus)).gamma == 0);
}

TEST_CASE("a block drafter gains if its limit 1 / ((1 - alpha) (1 + c)) exceeds one, and never at one") {
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j <= 256; ++j) {
      const double alpha = i / 64.0;
      const double c = j / 64.0;
      CAPTURE(alpha, c);
      const BestGamma best = best_gamma(block(alpha, c, Convention::bonus));
      // Small binary fractions: this product is exact.
      const bool pays = (1.0 - alpha) * (1.0 + c) < 1.0;
      CHECK(best.gamma.has_value() != pays);
      if (!pays) CHECK((best.gamma == 0 && best.speedup == 1.0));
      // The definition at a long draft, on the side of 1 that the rule gives: (63/64)^2000 = 2e-14 short of the limit.
      const double far = speedup(tokens_per_iteration({alpha, 2000, Convention::bonus}), 2000, c, Drafting::block);
      if (pays) CHECK(far == Approx(best.speedup).epsilon(tests::second_route));
      if (!pays) CHECK(far <= 1.0 + few_ulp);
    }
  }
  const BestGamma nothing = best_gamma(block(0.0, 0.5, Convention::no_bonus));
  CHECK(nothing.gamma == 1);
  CHECK(nothing.speedup == Approx(1.0 / 1.5).epsilon(few_ulp));
  // (1 - alpha)(1 + c) = 1 at c = alpha / (1 - alpha), which for this alpha is a double that rounding could cross.
  CHECK(best_gamma(block(0.75, 3.0, Convention::bonus)).gamma == 0);
  CHECK_FALSE(best_gamma(block(0.75, std::nextafter(3.0, 0.0), Convention::bonus)).gamma.has_value());
}

TEST_CASE("the best draft grows with alpha and shrinks with c") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (int i = 1; i < 200; ++i) {
      std::int64_t last_in_c = std::numeric_limits<std::int64_t>::max();
      for (int j = 1; j < 100; ++j) {
        const double alpha = i / 200.0;
        const double c = j / 100.0;
        const std::int64_t gamma = *best_gamma(autoregressive(alpha, c, convention)).gamma;
        CHECK(gamma <= last_in_c);
        CHECK(gamma <= *best_gamma(autoregressive(alpha + 0.005 * (i < 199 ? 1 : 0), c, convention)).gamma);
        last_in_c = gamma;
      }
    }
  }
}

TEST_CASE("alpha 0.8 and c 0.05: the worked optimum 8, its speedup, the real optimum and the oracle") {
  const IidSetting setting = autoregressive(0.8, 0.05, Convention::bonus);
  CHECK(best_gamma(setting).gamma == 8);
  CHECK(best_gamma(setting).speedup == Approx(3.0920795428571437).epsilon(few_ulp));
  CHECK(*real_gamma(setting) == Approx(7.8566544588706915).epsilon(few_ulp));
  CHECK(oracle_speedup(0.8, constant_ratio(0.05)) == Approx(4.166666666666667).epsilon(few_ulp));
}

TEST_CASE("the real optimum is a maximum of the speedup to twelve digits") {
  const double alpha = GENERATE(1e-300, 1e-15, 0.05, 0.5, 0.8, 0.99, 1.0 - 1e-5, 1.0 - 1e-10, 1.0 - 1e-15);
  const double c = GENERATE(1e-320, 1e-300, 1e-15, 1e-3, 0.25, 0.5, 0.9, 1.0 - 1e-10, 1.0, 40.0);
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const bool has_bonus = convention == Convention::bonus;
  CAPTURE(alpha, c, has_bonus);
  const std::optional<double> real = real_gamma(autoregressive(alpha, c, convention));
  const auto shortest = static_cast<double>(min_gamma(convention));
  REQUIRE(real.has_value());
  REQUIRE(*real >= shortest);
  // S(gamma) for real gamma from its definition; the slope changes sign close to n = gamma (+ 1).
  const LongReal a = -log(LongReal(alpha));
  const auto slope_sign = [&](const LongReal& n) -> LongReal {
    const LongReal cost = 1 + (has_bonus ? LongReal(n - 1) : n) * LongReal(c);
    const LongReal survival = exp(-a * n);
    return a * survival * cost - c * (1 - survival);
  };
  const LongReal n = LongReal(*real) + (has_bonus ? 1 : 0);
  const LongReal width = n * LongReal(tests::second_route);
  CHECK(slope_sign(n + width) < 0);
  if (*real > shortest) CHECK(slope_sign(n - width) > 0);
}

TEST_CASE("the real optimum with a bonus token is the Lambert W form, away from its branch point") {
  const double alpha = GENERATE(0.05, 0.3, 0.5, 0.8, 0.95);
  const double c = GENERATE(0.001, 0.01, 0.05, 0.2);
  const double a = -std::log(alpha);
  const double b = 1.0 + a * (1.0 - c) / c;
  if (b > 700.0) return;  // e^-B underflows
  const double expected = (-boost::math::lambert_wm1(-std::exp(-b)) - b) / a - 1.0;
  const double real = *real_gamma(autoregressive(alpha, c, Convention::bonus));
  if (expected < 0.0) {
    CHECK(real == 0.0);
    return;
  }
  CHECK(real == Approx(expected).epsilon(tests::second_route));
  // The value identity S = a alpha^(gamma + 1) / (c (1 - alpha)) at the optimum.
  const double value = (1.0 - std::pow(alpha, real + 1.0)) / ((1.0 - alpha) * (1.0 + real * c));
  CHECK(value == Approx(a * std::pow(alpha, real + 1.0) / (c * (1.0 - alpha))).epsilon(tests::second_route));
}

TEST_CASE("the best integer is next to the real optimum") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (int i = 1; i < 100; ++i) {
      for (int j = 1; j < 100; ++j) {
        const IidSetting setting = autoregressive(i / 100.0, j / 100.0, convention);
        const double real = *real_gamma(setting);
        CHECK(std::abs(static_cast<double>(*best_gamma(setting).gamma) - real) < 1.0);
      }
    }
  }
}

TEST_CASE("there is no real optimum for block drafting, or if longer is always better") {
  CHECK_FALSE(real_gamma(block(0.8, 0.05, Convention::bonus)).has_value());
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    CHECK_FALSE(real_gamma(autoregressive(1.0, 0.05, convention)).has_value());
    CHECK_FALSE(real_gamma(autoregressive(0.8, 0.0, convention)).has_value());
  }
}

// The slope of the speedup at gamma = 0 has the sign of -alpha log(alpha) / (1 - alpha) - c: the real optimum leaves 0
// at a c above the alpha at which the best integer does.
TEST_CASE("if no draft gains, the real optimum is the shortest draft, never a negative one") {
  const double alpha = GENERATE(0.05, 0.5, 0.8, 0.99);
  CAPTURE(alpha);
  const auto real = [&](double c, Convention convention) { return *real_gamma(autoregressive(alpha, c, convention)); };
  const double last_c = -alpha * std::log(alpha) / (1.0 - alpha);
  constexpr double step = 1e-6;
  for (const double c : {last_c + step, 0.5 * (last_c + 1.0), 1.0, 1.5, 1e300}) {
    CHECK(real(c, Convention::bonus) == 0.0);
    CHECK(best_gamma(autoregressive(alpha, c, Convention::bonus)).gamma == 0);
  }
  for (const double c : {alpha - step, alpha + step, last_c - step}) {
    CHECK(real(c, Convention::bonus) > 0.0);
    CHECK(real(c, Convention::bonus) < 1.0);
    CHECK(best_gamma(autoregressive(alpha, c, Convention::bonus)).gamma == (c < alpha ? 1 : 0));
  }
  CHECK(real(1e3, Convention::no_bonus) == 1.0);
  CHECK(*real_gamma(autoregressive(0.0, 0.05, Convention::bonus)) == 0.0);
  CHECK(*real_gamma(autoregressive(0.0, 0.05, Convention::no_bonus)) == 1.0);
}

TEST_CASE(
    "the oracle drafts only accepted tokens: its speedup is the ratio of the two series, at least 1 and every best "
    "gamma") {
  for (const double alpha : {0.0, 0.2, 0.8, 0.97}) {
    for (const double c : {0.0, 0.05, 0.6, 2.0}) {
      // The run of accepted drafts has length k with probability (1 - alpha) alpha^k, costs k c and yields k + 1
      // tokens.
      Real tokens = 0;
      Real time = 0;
      Real probability = 1 - Real(alpha);
      for (int k = 0; k < 5000; ++k) {
        tokens += probability * (k + 1);
        time += probability * (1 + k * Real(c));
        probability *= alpha;
      }
      const double oracle = oracle_speedup(alpha, constant_ratio(c));
      CHECK(relative_error(oracle, std::max(Real(1), Real(tokens / time))) < few_ulp);
      CHECK(oracle >= best_gamma(autoregressive(alpha, c, Convention::bonus)).speedup * (1 - few_ulp));
    }
  }
  CHECK(oracle_speedup(0.8, {.iteration = 2.0, .draft_pass = 0.05}) == Approx(1.0 / 0.44).epsilon(few_ulp));
  CHECK(oracle_speedup(0.8, {.iteration = 6.0, .draft_pass = 0.05}) == 1.0);
  CHECK(oracle_speedup(1.0, constant_ratio(0.0)) == infinity);
  CHECK(oracle_speedup(1.0 - 1e-15, constant_ratio(1e-300)) == Approx(1.0 / (1.0 - (1.0 - 1e-15))).epsilon(few_ulp));
}

TEST_CASE("the search for the best gamma rejects invalid probabilities and costs") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(best_gamma(autoregressive(nan, 0.1, Convention::bonus)), "invalid alpha=nan (must lie in [0, 1])");
  CHECK_THROWS_WITH(best_gamma(autoregressive(0.5, nan, Convention::bonus)),
                    "invalid c=nan (must be finite and not negative)");
  CHECK_THROWS_WITH(best_gamma(autoregressive(0.5, infinity, Convention::no_bonus)),
                    "invalid c=inf (must be finite and not negative)");
  CHECK_THROWS_WITH(real_gamma(autoregressive(1.5, 0.1, Convention::bonus)), "invalid alpha=1.5 (must lie in [0, 1])");
  CHECK_THROWS_WITH(oracle_speedup(0.5, constant_ratio(-1.0)),
                    "invalid draft_pass=-1 (must be finite and not negative)");
}

}  // namespace foredraft::analytic
