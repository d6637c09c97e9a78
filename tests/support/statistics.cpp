// SPDX-License-Identifier: Apache-2.0
#include "tests/support/statistics.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tests/support/tolerances.hpp"

namespace foredraft::tests {

double chi_squared_p_value(std::span<const std::int64_t> observed, std::span<const double> expected) {
  if (observed.size() != expected.size()) throw std::invalid_argument("observed and expected differ in length");
  constexpr double smallest_expectation = 5.0;  // below it Pearson's statistic is not chi-squared
  double statistic = 0.0;
  double pooled_observed = 0.0;
  double pooled_expected = 0.0;
  int cells = 0;
  const auto add_cell = [&](double seen, double wanted) {
    statistic += (seen - wanted) * (seen - wanted) / wanted;
    ++cells;
  };
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const auto seen = static_cast<double>(observed[i]);
    if (expected[i] <= 0.0) {
      if (observed[i] != 0) return 0.0;
    } else if (expected[i] < smallest_expectation) {
      pooled_observed += seen;
      pooled_expected += expected[i];
    } else {
      add_cell(seen, expected[i]);
    }
  }
  if (pooled_expected > 0.0) add_cell(pooled_observed, pooled_expected);
  const double seen_in_all = std::accumulate(observed.begin(), observed.end(), 0.0);
  const double wanted_in_all = std::accumulate(expected.begin(), expected.end(), 0.0);
  if (std::abs(seen_in_all - wanted_in_all) > 0.5) throw std::invalid_argument("observed and expected differ in total");
  if (cells < 2) throw std::invalid_argument("fewer than two cells: the test could not fail");
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(cells - 1), statistic));
}

double level_of_one(std::size_t tests) { return -std::expm1(std::log1p(-family_level) / static_cast<double>(tests)); }

}  // namespace foredraft::tests
