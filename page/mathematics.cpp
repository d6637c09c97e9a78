// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

// Functions that Emscripten's C library computes less exactly than glibc: a few of double, and those of long double
// that it computes in double (Boost's quantiles need them). Here long double has 113 bits, so nearly every result
// rounds to glibc's double. tests/page/equal_answers.py lists what still differs.
namespace {

using Long = long double;

constexpr Long log_2 = std::numbers::ln2_v<Long>;
constexpr int terms = 25;  // of exp(x), |x| <= log(2) / 2: the next is below 2^-113

/// exp(x) - 1 for |x| <= 0.5.
Long small_expm1(Long x) {
  Long sum = 0.0L;
  for (int n = terms; n > 0; --n) sum = (sum + 1.0L) * x / n;
  return sum;
}

}  // namespace

extern "C" {

double hypot(double x, double y) { return static_cast<double>(sqrtl(Long{x} * Long{x} + Long{y} * Long{y})); }
double sin(double x) { return static_cast<double>(sinl(Long{x})); }
double cos(double x) { return static_cast<double>(cosl(Long{x})); }
double atan2(double y, double x) { return static_cast<double>(atan2l(Long{y}, Long{x})); }

Long expl(Long x) {
  if (!(fabsl(x) < 12'000.0L)) return std::isnan(x) ? x : x > 0.0L ? HUGE_VALL : 0.0L;
  const int power = static_cast<int>(lrintl(x / log_2));
  return scalbnl(1.0L + small_expm1(x - power * log_2), power);
}

Long expm1l(Long x) { return fabsl(x) < 0.3L ? small_expm1(x) : expl(x) - 1.0L; }

Long logl(Long x) {
  if (!(x > 0.0L && std::isfinite(x))) return Long{log(static_cast<double>(x))};
  int power = 0;
  Long part = frexpl(x, &power);
  if (part < 0.7L) {
    part *= 2.0L;
    --power;
  }
  const Long first{log(static_cast<double>(part))};  // to 53 bits; a step of Halley's triples them
  const Long back = expl(first);
  return first + 2.0L * (part - back) / (part + back) + power * log_2;
}

Long log1pl(Long x) {
  const Long sum = 1.0L + x;
  return sum == 1.0L ? x : logl(sum) * (x / (sum - 1.0L));
}

Long powl(Long x, Long y) {
  if (x > 0.0L && std::isfinite(x)) return expl(y * logl(x));
  return Long{pow(static_cast<double>(x), static_cast<double>(y))};
}
}
