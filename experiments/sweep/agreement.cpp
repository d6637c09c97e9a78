// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/agreement.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace foredraft::experiments {
namespace {

/// Below this many units a ratio of totals is too skewed for Student's t.
constexpr std::uint64_t enough_units = 30;

}  // namespace

void Agreement::add(double deviation_in_se, std::uint64_t units) {
  fewest_units = deviations == 0 ? units : std::min(fewest_units, units);
  largest = std::max(largest, std::abs(deviation_in_se));
  ++deviations;
}

double agreement_bound(const Agreement& agreement) {
  constexpr double family_level = 0.99;
  const double level_of_one = -std::expm1(std::log(family_level) / static_cast<double>(agreement.deviations));
  const boost::math::students_t law(static_cast<double>(agreement.fewest_units) - 1.0);
  return boost::math::quantile(boost::math::complement(law, level_of_one / 2.0));
}

std::string to_text(const Agreement& agreement) {
  if (agreement.deviations == 0) return "no point has both a closed form and a standard error";
  if (agreement.fewest_units < enough_units) {
    return fmt::format("not judged: a point has {} independent units, too few for its standard error",
                       agreement.fewest_units);
  }
  std::string text =
      fmt::format("largest of {} deviations: {:.2f} standard errors (99 % of correct runs stay below {:.2f})",
                  agreement.deviations, agreement.largest, agreement_bound(agreement));
  if (agreement.not_comparable > 0) {
    text += fmt::format("; {} of {} points not comparable: no standard error", agreement.not_comparable,
                        agreement.deviations + agreement.not_comparable);
  }
  return text;
}

}  // namespace foredraft::experiments
