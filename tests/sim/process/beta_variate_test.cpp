// SPDX-License-Identifier: Apache-2.0
#include "sim/process/draws.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// Poles at 0 and 1, at one of them, at none; asymmetric; narrow.
const std::vector<std::pair<double, double>> shapes{{0.5, 0.5}, {0.01, 0.02},  {1.0, 1.0}, {2.4, 0.6},   {0.3, 7.0},
                                                    {3.0, 4.0}, {1.5, 1000.0}, {8e4, 2e4}, {0.02, 500.0}};

RandomStream stream() { return {7, {.purpose = Purpose::latent_alpha, .point = 3, .block = 1}}; }

/// p-value of variates in the lower half of their range: cells of equal probability up to 1/2, and one cell for the
/// rest, which is tested by the complement.
template <class Part>
double p_value_below_half(double a, double b, std::uint64_t draws, const BetaDistribution& distribution, Part part) {
  constexpr int cells = 40;
  std::vector<double> ends;
  std::vector<double> expected;
  for (int i = 1; i < cells; ++i) {
    const double end = boost::math::quantile(boost::math::beta_distribution<>(a, b), static_cast<double>(i) / cells);
    if (end >= 0.5) break;
    ends.push_back(end);
    expected.push_back(static_cast<double>(draws) / cells);
  }
  expected.push_back(static_cast<double>(draws) * (1.0 - static_cast<double>(ends.size()) / cells));
  RandomStream random = stream();
  std::vector<std::int64_t> counts(expected.size(), 0);
  for (std::uint64_t place = 0; place < draws; ++place) {
    const double value = part(distribution.draw(random, place));
    ++counts[static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), value) - ends.begin())];
  }
  return counts.size() == 1 ? 1.0 : tests::chi_squared_p_value(counts, expected);
}

}  // namespace

// 100,000 draws in 40 cells of equal probability detect a relative deviation of 3 % (root mean square over the cells).
// The cells are computed from the inverse incomplete Beta function, which the sampler does not use.
TEST_CASE("Beta variates and their complements follow their distribution, from poles at both limits to narrow peaks") {
  constexpr std::uint64_t draws = 100'000;
  const double level = tests::level_of_one(2 * shapes.size());
  for (const auto& [a, b] : shapes) {
    CAPTURE(a, b);
    const BetaDistribution distribution(a, b);
    CHECK(p_value_below_half(a, b, draws, distribution, [](const BetaVariate& x) { return x.value; }) > level);
    CHECK(p_value_below_half(b, a, draws, distribution, [](const BetaVariate& x) { return x.complement; }) > level);
  }
}

TEST_CASE("a Beta variate is a function of its index, not of earlier draws") {
  const BetaDistribution distribution(0.7, 2.0);
  RandomStream forwards = stream();
  std::vector<double> there;
  for (std::uint64_t place = 0; place < 100; ++place) there.push_back(distribution.draw(forwards, place).value);
  RandomStream backwards = stream();
  for (std::uint64_t place = 100; place-- > 0;) CHECK(distribution.draw(backwards, place).value == there[place]);
  CHECK(std::adjacent_find(there.begin(), there.end()) == there.end());
}

TEST_CASE("Beta variates of extreme shapes add up to one with their complements and have the right mean") {
  constexpr std::uint64_t draws = 2'000;
  const auto mean_of = [](double a, double b) {
    RandomStream random = stream();
    const BetaDistribution distribution(a, b);
    double sum = 0.0;
    for (std::uint64_t place = 0; place < draws; ++place) {
      const BetaVariate x = distribution.draw(random, place);
      REQUIRE((x.value >= 0.0 && x.complement >= 0.0));
      REQUIRE(std::abs(x.value + x.complement - 1.0) < tests::few_ulp);
      sum += x.value;
    }
    return sum / draws;
  };
  CHECK(mean_of(1e300, 1e300) == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(mean_of(1.5e308, 0.5e308) == Approx(0.75).epsilon(tests::few_ulp));
  const double narrow = std::sqrt(0.25 * 0.75 / 4e20 / draws);  // standard error of the mean
  CHECK(std::abs(mean_of(1e20, 3e20) - 0.25) < tests::standard_errors * narrow);
  CHECK(mean_of(1e-300, 1e300) == 0.0);
  CHECK(mean_of(1e300, 1e-300) == 1.0);
  // Either 0 or 1.
  const double error = std::sqrt(0.25 / draws);  // of the mean of fair coins
  CHECK(std::abs(mean_of(1e-300, 1e-300) - 0.5) < tests::standard_errors * error);
  CHECK(std::abs(mean_of(1e-5, 1e-5) - 0.5) < tests::standard_errors * error);
}

}  // namespace foredraft::sim
