// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "foredraft/quantities.hpp"

/// Sums, squares and cross products of integer observations, stored as integers. Merging is integer addition, so any
/// order and grouping by threads or shards gives the same bits.
namespace foredraft {

__extension__ using Int128 = __int128;

/// First and second moments of `N` integer quantities that are observed together (tokens, iterations, draft passes of a
/// unit). Up to 2^62 units with values below 2^32 do not overflow.
template <std::size_t N>
class IntegerMoments {
 public:
  using Values = std::array<std::int64_t, N>;

  /// Records the same observation `times` times.
  void add(const Values& values, std::int64_t times = 1) {
    count_ += times;
    for (std::size_t i = 0; i < N; ++i) {
      sums_[i] += Int128{values[i]} * times;
      for (std::size_t j = i; j < N; ++j) products_[i * N + j] += Int128{values[i]} * values[j] * times;
    }
  }

  void merge(const IntegerMoments& other) {
    count_ += other.count_;
    for (std::size_t i = 0; i < N; ++i) sums_[i] += other.sums_[i];
    for (std::size_t i = 0; i < N * N; ++i) products_[i] += other.products_[i];
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] Int128 sum(std::size_t i) const { return sums_[i]; }

  /// NaN when empty.
  [[nodiscard]] double mean(std::size_t i) const {
    return count_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                       : static_cast<double>(sums_[i]) / static_cast<double>(count_);
  }

  /// Unbiased sample covariance (variance for i = j); NaN for fewer than two observations. n * products - sums * sums
  /// is computed in integers where they fit, so there is no cancellation.
  [[nodiscard]] double covariance(std::size_t i, std::size_t j) const {
    if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
    const Int128 product = i <= j ? products_[i * N + j] : products_[j * N + i];
    const auto n = static_cast<double>(count_);
    return scaled_difference(product, sums_[i], sums_[j]) / (n * (n - 1.0));
  }

  /// Standard error of mean(i) for independent observations; NaN for fewer than two.
  [[nodiscard]] double standard_error(std::size_t i) const {
    return std::sqrt(covariance(i, i) / static_cast<double>(count_));
  }

  bool operator==(const IntegerMoments&) const = default;

 private:
  /// count * product - a * b. Falls back to long double if the exact form overflows 127 bits.
  [[nodiscard]] double scaled_difference(Int128 product, Int128 a, Int128 b) const {
    Int128 left{};
    Int128 right{};
    Int128 difference{};
    if (!__builtin_mul_overflow(product, Int128{count_}, &left) && !__builtin_mul_overflow(a, b, &right) &&
        !__builtin_sub_overflow(left, right, &difference)) {
      return static_cast<double>(difference);
    }
    return static_cast<double>(static_cast<long double>(product) * static_cast<long double>(count_) -
                               static_cast<long double>(a) * static_cast<long double>(b));
  }

  std::int64_t count_ = 0;
  std::array<Int128, N> sums_{};
  std::array<Int128, N * N> products_{};
};

// ---- Estimates with their uncertainty. The level of an interval is its two-sided coverage in (0, 1), by default 0.95.

struct Interval {
  double low;
  double high;
};

/// Two-sided standard normal quantile: 1.96 for 0.95.
[[nodiscard]] double normal_quantile(double level);

/// Two-sided quantile of Student's distribution: 12.7 for 0.95 with 1 degree of freedom; equals normal_quantile for
/// infinite `degrees`. `degrees` > 0.
[[nodiscard]] double student_quantile(double level, double degrees);

/// mean +- normal_quantile(level) * standard_error.
[[nodiscard]] Interval normal_interval(const Estimate& estimate, double level = 0.95);

/// Exact interval of a proportion: `successes` of `trials` [Clopper1934]. [0, 1] without trials.
[[nodiscard]] Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// Ratio of totals sum_i a_i x_i / sum_i b_i x_i of jointly observed integer quantities x, with the delta-method
/// standard error of n independent units: sqrt(w' C w / n) / mean denominator, w = a - ratio * b, C the sample
/// covariance. Mean NaN for a zero denominator. `numerator_constant` and `denominator_constant` are added once per
/// unit.
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
  // Rounding can make a zero variance slightly negative; NaN must pass through.
  if (variance < 0.0) variance = 0.0;
  return {ratio, std::sqrt(variance / static_cast<double>(units.count())) / std::abs(bottom)};
}

}  // namespace foredraft
