// SPDX-License-Identifier: Apache-2.0
#include "experiments/compare/rounded.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace foredraft::experiments {
namespace {

double without_negative_zero(double value, int digits) {
  return std::abs(value) < 0.5 * std::pow(10.0, -digits) ? 0.0 : value;
}

}  // namespace

int digits_for(double half_width) {
  constexpr int of_nothing = 3;
  constexpr int max_digits = 6;
  constexpr double from_one_digit = 3.55;
  if (!(half_width > 0.0) || !std::isfinite(half_width)) return of_nothing;
  return std::clamp(static_cast<int>(std::ceil(std::log10(from_one_digit / half_width))), 0, max_digits);
}

std::string rounded(double value, int digits) {
  return fmt::format("{:.{}f}", without_negative_zero(value, digits), digits);
}

std::string signed_rounded(double value, int digits) {
  return fmt::format("{:+.{}f}", without_negative_zero(value, digits), digits);
}

std::string rounded_up(double value, int digits) {
  const double unit = std::pow(10.0, digits);
  const double scaled = std::ceil(std::abs(value) * unit * (1.0 - 1e-9)) / unit;
  return fmt::format("{:.{}f}", std::copysign(scaled, value), digits);
}

std::string with_interval(double value, const Interval& interval) {
  const int digits = digits_for((interval.high - interval.low) / 2.0);
  return fmt::format("{} ({} to {})", rounded(value, digits), rounded(interval.low, digits),
                     rounded(interval.high, digits));
}

std::string with_interval(const analytic::ClusteredEstimate& estimate) {
  return with_interval(estimate.value, analytic::interval_of(estimate));
}

std::string with_half_interval(const analytic::ClusteredEstimate& estimate) {
  const Interval interval = analytic::interval_of(estimate);
  const double half = (interval.high - interval.low) / 2.0;
  const int digits = digits_for(half);
  return fmt::format("{} +- {}", rounded(estimate.value, digits), rounded_up(half, digits));
}

}  // namespace foredraft::experiments
