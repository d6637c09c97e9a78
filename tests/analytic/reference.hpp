// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>

#include "foredraft/words.hpp"

/// The definitions evaluated in high precision, term by term: the second route of the tests of analytic/.
namespace foredraft::tests {

/// 50 digits, for sums of positive terms.
using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

/// 700 digits, for closed forms that cancel: alpha and c go down to 1e-324, and a speedup then differs from one by the
/// square of that.
using LongReal =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<700>, boost::multiprecision::et_off>;

template <class Number>
Number integer_power(const Number& base, std::int64_t exponent) {
  Number result = 1;
  Number square = base;
  for (std::int64_t rest = exponent; rest > 0; rest /= 2) {
    if (rest % 2 != 0) result *= square;
    square *= square;
  }
  return result;
}

/// Distance of `value` from `reference`, relative to the reference; absolute where that is 0.
template <class Number>
double relative_error(double value, const Number& reference) {
  const Number difference = Number(value) - reference;
  return static_cast<double>(abs(reference == 0 ? difference : Number(difference / reference)));
}

/// (1 - alpha^n) / (1 - alpha) and [alpha - (2n-1)(1-alpha) alpha^n - alpha^2n] / (1-alpha)^2, 0 < alpha < 1.
struct IidMoments {
  LongReal mean;
  LongReal variance;
};
inline IidMoments iid_moments(double alpha, std::int64_t n) {
  const LongReal a = alpha;
  const LongReal power = integer_power(a, n);
  const LongReal d = 1 - a;
  return {(1 - power) / d, (a - (2 * LongReal(n) - 1) * d * power - power * power) / (d * d)};
}

/// Speedup of an i.i.d. iteration, for 0 < alpha < 1.
inline LongReal iid_speedup(double alpha, double c, std::int64_t gamma, Convention convention, Drafting drafting) {
  return iid_moments(alpha, max_tokens(gamma, convention)).mean / (1 + draft_passes(gamma, drafting) * LongReal(c));
}

}  // namespace foredraft::tests
