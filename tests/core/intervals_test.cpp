// SPDX-License-Identifier: Apache-2.0
#include "core/intervals.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <catch2/catch.hpp>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {

TEST_CASE("the normal interval has the textbook quantile and rejects a level outside (0, 1)") {
  CHECK(normal_quantile(0.95) == Approx(1.959963984540054).epsilon(tests::few_ulp));
  const Interval interval = normal_interval({.mean = 2.0, .standard_error = 0.5});
  CHECK(interval.low == Approx(2.0 - 0.5 * 1.959963984540054).epsilon(tests::few_ulp));
  CHECK(interval.high == Approx(2.0 + 0.5 * 1.959963984540054).epsilon(tests::few_ulp));
  CHECK_THROWS_AS(normal_quantile(1.0), DomainError);
  CHECK_THROWS_AS(normal_quantile(std::numeric_limits<double>::quiet_NaN()), DomainError);
}

TEST_CASE("Student quantiles have their closed forms with 1 and 2 degrees of freedom, and become normal ones") {
  // 1: tan(pi (p - 1/2)); 2: (2 p - 1) / sqrt(2 p (1 - p)), p = 0.975.
  CHECK(student_quantile(0.95, 1.0) == Approx(std::tan(0.475 * std::acos(-1.0))).epsilon(tests::second_route));
  CHECK(student_quantile(0.95, 2.0) == Approx(0.95 / std::sqrt(2.0 * 0.975 * 0.025)).epsilon(tests::second_route));
  CHECK(student_quantile(0.95, std::numeric_limits<double>::infinity()) == normal_quantile(0.95));
  CHECK_THROWS_AS(student_quantile(0.95, 0.0), DomainError);
  CHECK_THROWS_AS(student_quantile(1.0, 5.0), DomainError);
}

TEST_CASE("a Clopper-Pearson bound is where the binomial tail is exactly half the missing level") {
  for (const std::int64_t successes : {1, 7, 19}) {
    const Interval interval = clopper_pearson(successes, 20, 0.9);
    using Binomial = boost::math::binomial_distribution<double>;
    const auto k = static_cast<double>(successes);
    CHECK(boost::math::cdf(boost::math::complement(Binomial(20, interval.low), k - 1.0)) ==
          Approx(0.05).epsilon(tests::second_route));
    CHECK(boost::math::cdf(Binomial(20, interval.high), k) == Approx(0.05).epsilon(tests::second_route));
  }
}

TEST_CASE("a proportion of 0 or 1 keeps one exact bound") {
  CHECK(clopper_pearson(0, 10).low == 0.0);
  CHECK(clopper_pearson(0, 10).high == Approx(1.0 - std::pow(0.025, 0.1)).epsilon(tests::second_route));
  CHECK(clopper_pearson(10, 10).high == 1.0);
  CHECK(clopper_pearson(0, 0).low == 0.0);
  CHECK(clopper_pearson(0, 0).high == 1.0);
  CHECK_THROWS_MATCHES(clopper_pearson(11, 10), DomainError, Says("invalid successes=11"));
}

TEST_CASE("the ratio of totals has the delta-method error, worked by hand") {
  // (x, y) = (2, 1), (4, 1), (6, 4): ratio 12/6 = 2; w = x - 2 y = 0, 2, -2; var(w) = 4; mean y = 2.
  IntegerMoments<2> units;
  units.add({2, 1});
  units.add({4, 1});
  units.add({6, 4});
  const Estimate ratio = ratio_estimate<2>(units, {1.0, 0.0}, {0.0, 1.0});
  CHECK(ratio.mean == 2.0);
  CHECK(ratio.standard_error == Approx(std::sqrt(4.0 / 3.0) / 2.0).epsilon(tests::few_ulp));
}

TEST_CASE("a ratio against a constant is a mean with the plain standard error") {
  IntegerMoments<2> units;
  for (const std::int64_t x : {1, 2, 3, 6}) units.add({x, 1});
  const Estimate ratio = ratio_estimate<2>(units, {1.0, 0.0}, {0.0, 1.0});
  CHECK(ratio.mean == units.mean(0));
  CHECK(ratio.standard_error == Approx(units.standard_error(0)).epsilon(tests::few_ulp));
}

TEST_CASE("a ratio without a denominator or with one unit reports that it cannot be estimated") {
  IntegerMoments<2> units;
  units.add({1, 0});
  units.add({2, 0});
  CHECK(std::isnan(ratio_estimate<2>(units, {1.0, 0.0}, {0.0, 1.0}).mean));
  IntegerMoments<2> one;
  one.add({3, 2});
  CHECK(ratio_estimate<2>(one, {1.0, 0.0}, {0.0, 1.0}).mean == 1.5);
  CHECK(std::isnan(ratio_estimate<2>(one, {1.0, 0.0}, {0.0, 1.0}).standard_error));
}

TEST_CASE("the delta-method interval covers the true ratio of correlated quantities as often as stated") {
  // y uniform on 1..4, x = 3 y + noise on {-1, 1}: true ratio of means 3. 2,000 samples of 200 units; the number of
  // intervals that miss is binomial(2000, 0.05). The smallest detected defect: a standard error off by about 15 %.
  constexpr int samples = 2000;
  int missed = 0;
  for (int s = 0; s < samples; ++s) {
    RandomStream random(5, {.purpose = Purpose::test, .point = 1, .block = static_cast<std::uint64_t>(s)});
    IntegerMoments<2> units;
    for (int i = 0; i < 200; ++i) {
      const std::int64_t y = 1 + static_cast<std::int64_t>(random.next_u32() % 4);
      const std::int64_t noise = random.next_u32() % 2 == 0 ? -1 : 1;
      units.add({3 * y + noise, y});
    }
    const Interval interval = normal_interval(ratio_estimate<2>(units, {1.0, 0.0}, {0.0, 1.0}));
    if (!(interval.low <= 3.0 && 3.0 <= interval.high)) ++missed;
  }
  const double expected = 0.05 * samples;
  CHECK(std::abs(missed - expected) < tests::standard_errors * std::sqrt(expected * 0.95));
}

}  // namespace foredraft
