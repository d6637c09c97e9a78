// SPDX-License-Identifier: Apache-2.0
#include <boost/math/special_functions/gamma.hpp>
#include <catch2/catch.hpp>
#include <limits>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;
using tests::second_route;

struct Moments {
  Real mean;
  Real variance;
};

/// From the distribution P(X >= k) = prod (a + j)/(a + b + j), term by term.
Moments by_summation(const BetaMixture& mixture, std::int64_t n) {
  Real reached = 1;
  Real mean = 0;
  Real square = 0;
  for (std::int64_t k = 1; k <= n; ++k) {
    mean += reached;
    square += (2 * k - 1) * reached;
    reached *= (Real(mixture.a) + (k - 1)) / (Real(mixture.a) + mixture.b + (k - 1));
  }
  return {mean, square - mean * mean};
}

using GammaReal =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>, boost::multiprecision::et_off>;

/// (x)_n / (y)_n.
GammaReal rising_ratio(const GammaReal& x, const GammaReal& y, std::int64_t n) {
  using boost::math::lgamma;
  return exp(lgamma(GammaReal(x + n)) - lgamma(x) - lgamma(GammaReal(y + n)) + lgamma(y));
}

/// sum_{j<n} (a)_j / (a + b)_j = (a + b - 1)/(b - 1) [1 - (a)_n/(a + b - 1)_n].
GammaReal rising_sum(const GammaReal& a, const GammaReal& b, std::int64_t n) {
  return (a + b - 1) / (b - 1) * (1 - rising_ratio(a, a + b - 1, n));
}

/// The closed form in 100 digits, for n that no sum reaches; b is moved by 1e-25 off the poles at 1 and 2. a + b > 2.
Moments by_gamma_functions(const BetaMixture& mixture, std::int64_t n) {
  const GammaReal a = mixture.a;
  const GammaReal b = GammaReal(mixture.b) + GammaReal("1e-25");
  const GammaReal mean = rising_sum(a, b, n);
  // sum_j j m_j, because (a + b - 1 + j) m_j is (a + b - 1) times the term of a mixture with b - 1.
  const GammaReal ordered = (a + b - 1) * (rising_sum(a, b - 1, n) - mean);
  return {Real(mean), Real(2 * ordered + mean - mean * mean)};
}

void check_moments(const BetaMixture& mixture, std::int64_t gamma, Convention convention, const Moments& expected) {
  CAPTURE(mixture.a, mixture.b, gamma, convention == Convention::bonus);
  CHECK(relative_error(tokens_per_iteration(mixture, gamma, convention), expected.mean) < second_route);
  CHECK(relative_error(tokens_variance(mixture, gamma, convention), expected.variance) < second_route);
}

}  // namespace

TEST_CASE("the Beta mixture's moments are the sums of its distribution, also at the switch to quadrature") {
  const BetaMixture mixture =
      GENERATE(BetaMixture{8.0, 2.0}, BetaMixture{2.0, 3.0}, BetaMixture{0.5, 0.5}, BetaMixture{3.0, 1.0},
               BetaMixture{3.0, 1.0 + 1e-9}, BetaMixture{3.0, 1.0 - 1e-9}, BetaMixture{4.0, 0.1}, BetaMixture{0.1, 4.0},
               BetaMixture{1.0, 1.0}, BetaMixture{1e9, 1e9}, BetaMixture{1e9, 2.5}, BetaMixture{2.5, 1e9},
               BetaMixture{1e6, 700.0}, BetaMixture{1e9, 0.5}, BetaMixture{1e-3, 1e-3}, BetaMixture{1e12, 3e7});
  for (const std::int64_t n : {1, 2, 6, 100, 4096, 4097, 20'000}) {
    const Moments expected = by_summation(mixture, n);
    check_moments(mixture, n - 1, Convention::bonus, expected);
    if (n == 6 || n == 4097) check_moments(mixture, n, Convention::no_bonus, expected);
  }
}

TEST_CASE("the Beta mixture's moments hold for a million drafts and far beyond") {
  const BetaMixture mixture = GENERATE(BetaMixture{8.0, 2.0}, BetaMixture{2.0, 3.0}, BetaMixture{3.0, 1.0},
                                       BetaMixture{3.0, 1.0 + 1e-9}, BetaMixture{3.0, 0.2}, BetaMixture{0.5, 2.7},
                                       BetaMixture{1e9, 1e9}, BetaMixture{1e9, 2.5}, BetaMixture{1e9, 0.5});
  for (const std::int64_t gamma : {std::int64_t{1'000'000}, std::int64_t{1} << 62}) {
    check_moments(mixture, gamma, Convention::bonus, by_gamma_functions(mixture, gamma + 1));
  }
}

TEST_CASE("the closed form used in the previous test equals the sum") {
  constexpr double shift_of_b = 1e-20;  // b is moved by 1e-25; the variance of (1e9, 0.5) loses some digits more
  for (const BetaMixture& mixture : {BetaMixture{3.0, 1.0}, BetaMixture{0.5, 2.7}, BetaMixture{1e9, 0.5}}) {
    const Moments closed = by_gamma_functions(mixture, 5000);
    const Moments sum = by_summation(mixture, 5000);
    CHECK(static_cast<double>(abs(closed.mean / sum.mean - 1)) < shift_of_b);
    CHECK(static_cast<double>(abs(closed.variance / sum.variance - 1)) < shift_of_b);
  }
}

TEST_CASE("the probability of k accepted drafts is the rising-factorial ratio, product or tail") {
  const BetaMixture mixture = GENERATE(BetaMixture{8.0, 2.0}, BetaMixture{0.5, 0.5}, BetaMixture{3.0, 1.0},
                                       BetaMixture{1e9, 1e6}, BetaMixture{1e9, 2.5}, BetaMixture{1e-3, 0.2});
  CHECK(accepted_at_least(mixture, 0) == 1.0);
  CHECK(accepted_at_least(mixture, 1) == Approx(mixture.a / (mixture.a + mixture.b)).epsilon(few_ulp));
  for (const std::int64_t k : {std::int64_t{2}, std::int64_t{5}, std::int64_t{4096}, std::int64_t{4097},
                               std::int64_t{50'000}, std::int64_t{1'000'000}, std::int64_t{1} << 60}) {
    CAPTURE(mixture.a, mixture.b, k);
    const GammaReal expected = rising_ratio(mixture.a, GammaReal(mixture.a) + mixture.b, k);
    if (expected < 1e-300) continue;
    CHECK(relative_error(accepted_at_least(mixture, k), expected) < second_route);
  }
}

TEST_CASE("a Beta distribution narrowed to a point is the i.i.d. process") {
  const double alpha = GENERATE(0.2, 0.8, 0.99);
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 5, 60, 10'000);
  const BetaMixture narrow{alpha * 1e15, (1.0 - alpha) * 1e15};
  CHECK(tokens_per_iteration(narrow, gamma, Convention::bonus) ==
        Approx(tokens_per_iteration({alpha, gamma, Convention::bonus})).epsilon(second_route));
  CHECK(tokens_variance(narrow, gamma, Convention::bonus) ==
        Approx(tokens_variance({alpha, gamma, Convention::bonus})).epsilon(second_route));
}

TEST_CASE("a Beta distribution at the limits of its parameters is a point or two points") {
  const BetaMixture two_points{1e-100, 1e-100};  // alpha 0 or 1, evenly
  CHECK(tokens_per_iteration(two_points, 100'000, Convention::bonus) == Approx(50'001.0).epsilon(second_route));
  CHECK(tokens_variance(two_points, 100'000, Convention::bonus) == Approx(2.5e9).epsilon(second_route));
  CHECK(tokens_per_iteration(BetaMixture{1e100, 1e-100}, 100'000, Convention::bonus) ==
        Approx(100'001.0).epsilon(second_route));
  CHECK(tokens_per_iteration(BetaMixture{1e-100, 1e100}, 100'000, Convention::bonus) ==
        Approx(1.0).epsilon(second_route));
}

TEST_CASE("the Beta mixture rejects invalid Beta parameters") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(tokens_per_iteration(BetaMixture{0.0, 1.0}, 3, Convention::bonus),
                    "invalid a=0 (must be finite and above 0)");
  CHECK_THROWS_WITH(tokens_variance(BetaMixture{1.0, nan}, 3, Convention::bonus),
                    "invalid b=nan (must be finite and above 0)");
  CHECK_THROWS_WITH(tokens_variance(BetaMixture{1e-101, 1.0}, 3, Convention::bonus),
                    "invalid a=1e-101 (must lie in [1e-100, 1e+100])");
  CHECK_THROWS_WITH(accepted_at_least({1.0, 1e101}, 3), "invalid b=1e+101 (must lie in [1e-100, 1e+100])");
  CHECK_THROWS_WITH(tokens_per_iteration(BetaMixture{1.0, 1.0}, -1, Convention::bonus),
                    "invalid gamma=-1 (must be at least 0)");
  CHECK_THROWS_WITH(accepted_at_least({1.0, 1.0}, -1), "invalid k=-1 (must lie in 0 to 7000000000000000000)");
}

}  // namespace foredraft::analytic
