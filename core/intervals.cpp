// SPDX-License-Identifier: Apache-2.0
#include "core/intervals.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "core/check.hpp"

namespace foredraft {
namespace {

void check_level(double level) {
  if (!(level > 0.0 && level < 1.0)) throw DomainError(fmt::format("invalid level={} (must lie in (0, 1))", level));
}

}  // namespace

double normal_quantile(double level) {
  check_level(level);
  return boost::math::quantile(
      boost::math::complement(boost::math::normal_distribution<double>{}, (1.0 - level) / 2.0));
}

double student_quantile(double level, double degrees) {
  check_level(level);
  if (!(degrees > 0.0)) throw DomainError(fmt::format("invalid degrees={} (must be positive)", degrees));
  if (std::isinf(degrees)) return normal_quantile(level);
  return boost::math::quantile(
      boost::math::complement(boost::math::students_t_distribution<double>(degrees), (1.0 - level) / 2.0));
}

Interval normal_interval(const Estimate& estimate, double level) {
  const double half_width = normal_quantile(level) * estimate.standard_error;
  return {estimate.mean - half_width, estimate.mean + half_width};
}

Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level) {
  check_level(level);
  check_at_least("trials", trials, 0);
  check_range("successes", successes, 0, trials);
  if (trials == 0) return {0.0, 1.0};
  const auto k = static_cast<double>(successes);
  const auto n = static_cast<double>(trials);
  const double tail = (1.0 - level) / 2.0;
  using Beta = boost::math::beta_distribution<double>;
  const double low = successes == 0 ? 0.0 : boost::math::quantile(Beta(k, n - k + 1.0), tail);
  const double high =
      successes == trials ? 1.0 : boost::math::quantile(boost::math::complement(Beta(k + 1.0, n - k), tail));
  return {low, high};
}

}  // namespace foredraft
