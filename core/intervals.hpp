// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/integer_moments.hpp"
#include "foredraft/quantities.hpp"

/// Estimates with their uncertainty. The level of every interval is a two-sided coverage in (0, 1), 0.95 by default.
namespace foredraft {

struct Interval {
  double low;
  double high;
};

/// Two-sided standard normal quantile: 1.96 for 0.95.
[[nodiscard]] double normal_quantile(double level);

/// Two-sided quantile of Student's distribution: 12.7 for 0.95 with 1 degree of freedom, normal_quantile with
/// infinitely many. `degrees` > 0, need not be whole.
[[nodiscard]] double student_quantile(double level, double degrees);

/// mean +- normal_quantile(level) * standard_error.
[[nodiscard]] Interval normal_interval(const Estimate& estimate, double level = 0.95);

/// Exact interval of a proportion [Clopper1934]: `successes` of `trials`. [0, 1] without trials.
[[nodiscard]] Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// Ratio of totals sum_i a_i x_i / sum_i b_i x_i of jointly observed integer quantities x, with the delta-method
/// standard error of n independent units: sqrt(w' C w / n) / mean denominator, w = a - ratio * b, C the sample
/// covariance. Mean NaN for a zero denominator. `numerator_constant` and `denominator_constant` are added once a unit.
template <std::size_t N>
[[nodiscard]] Estimate ratio_estimate(const IntegerMoments<N>& units, const std::array<double, N>& numerator,
                                      const std::array<double, N>& denominator, double numerator_constant = 0.0,
                                      double denominator_constant = 0.0) {
  double top = numerator_constant;
  double bottom = denominator_constant;
  for (std::size_t i = 0; i < N; ++i) {
    top += numerator[i] * units.mean(i);
    bottom += denominator[i] * units.mean(i);
  }
  if (bottom == 0.0) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  const double ratio = top / bottom;
  double variance = 0.0;
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      variance +=
          (numerator[i] - ratio * denominator[i]) * (numerator[j] - ratio * denominator[j]) * units.covariance(i, j);
    }
  }
  // Rounding can leave a tiny negative number where the true variance is zero; NaN must pass through.
  if (variance < 0.0) variance = 0.0;
  return {ratio, std::sqrt(variance / static_cast<double>(units.count())) / std::abs(bottom)};
}

}  // namespace foredraft
