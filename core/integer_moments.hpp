// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Sums, squares and cross products of integer observations, kept as integers: merging is addition, so any grouping,
/// order, thread or shard gives the same bits.
namespace foredraft {

__extension__ using Int128 = __int128;

/// First and second moments of `N` integer quantities observed together (tokens, iterations, draft passes of a unit).
/// Holds up to 2^62 units of values below 2^32 without overflow.
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

  /// Unbiased sample covariance (variance for i = j); NaN below two observations.
  /// n * products - sums * sums is exact in integers, so nothing cancels.
  [[nodiscard]] double covariance(std::size_t i, std::size_t j) const {
    if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
    const Int128 product = i <= j ? products_[i * N + j] : products_[j * N + i];
    const auto n = static_cast<double>(count_);
    return scaled_difference(product, sums_[i], sums_[j]) / (n * (n - 1.0));
  }

  /// Standard error of mean(i) for independent observations; NaN below two.
  [[nodiscard]] double standard_error(std::size_t i) const {
    return std::sqrt(covariance(i, i) / static_cast<double>(count_));
  }

  bool operator==(const IntegerMoments&) const = default;

 private:
  /// count * product - a * b. Falls back to long double where the 127 bits of the exact form would not do.
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

}  // namespace foredraft
