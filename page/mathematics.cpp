// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
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

/// A sum of two doubles, the second below half a unit in the last place of the first: ten times as fast as Long.
struct Pair {
  double high;
  double low;
};

constexpr Pair pair_of(Long x) {
  const auto high = static_cast<double>(x);
  return {high, static_cast<double>(x - Long{high})};
}

Pair sum(double a, double b) {
  const double high = a + b;
  const double of_b = high - a;
  return {high, (a - (high - of_b)) + (b - of_b)};
}

Pair plus(Pair a, Pair b) {
  const Pair high = sum(a.high, b.high);
  return sum(high.high, high.low + (a.low + b.low));
}

Pair times(Pair a, Pair b) {
  constexpr double splitter = 0x1.0p27 + 1.0;
  const auto upper = [](double x) { return splitter * x - (splitter * x - x); };
  const double high = a.high * b.high;
  const double a_up = upper(a.high);
  const double b_up = upper(b.high);
  const double a_rest = a.high - a_up;
  const double b_rest = b.high - b_up;
  const double low = ((a_up * b_up - high) + a_up * b_rest + a_rest * b_up) + a_rest * b_rest;
  return sum(high, low + (a.high * b.low + a.low * b.high));
}

/// Coefficients of the series of sine and cosine by powers of the square: 1, -1/3!, 1/5!, and 1, -1/2!, 1/4!.
template <int First>
constexpr std::array<Pair, 13> series_of() {
  std::array<Pair, 13> series{};
  Long term = 1.0L;
  for (int n = 0; n < 13; ++n) {
    series[static_cast<std::size_t>(n)] = pair_of(term);
    term /= -static_cast<Long>((2 * n + 1 + First) * (2 * n + 2 + First));
  }
  return series;
}

/// The series, whose terms from the fifth on are below 2^-19: doubles are exact enough for these.
Pair series_sum(const std::array<Pair, 13>& series, Pair square) {
  constexpr std::size_t in_pairs = 4;
  double rest = 0.0;
  for (std::size_t n = series.size(); n > in_pairs; --n) rest = rest * square.high + series[n - 1].high;
  Pair value{rest, 0.0};
  for (std::size_t n = in_pairs; n > 0; --n) value = plus(series[n - 1], times(value, square));
  return value;
}

constexpr double largest_angle = 8.0;  // up to there the multiples of the parts of pi / 2 are exact

/// sin(x + quarters * pi / 2) for |x| < largest_angle.
double sine(double x, int quarters) {
  constexpr Long half_pi = std::numbers::pi_v<Long> / 2.0L;
  constexpr double first = static_cast<double>(static_cast<std::int64_t>(half_pi * 0x1.0p49L)) * 0x1.0p-49;
  constexpr double second =
      static_cast<double>(static_cast<std::int64_t>((half_pi - Long{first}) * 0x1.0p99L)) * 0x1.0p-99;
  constexpr auto third = static_cast<double>(half_pi - Long{first} - Long{second});
  constexpr std::array<Pair, 13> of_sine = series_of<1>();
  constexpr std::array<Pair, 13> of_cosine = series_of<0>();
  const double multiple = nearbyint(x / static_cast<double>(half_pi));
  const Pair angle = plus(sum(x - multiple * first, -multiple * second), {-multiple * third, 0.0});
  const int turn = (static_cast<int>(multiple) + quarters) & 3;
  const Pair square = times(angle, angle);
  const Pair value = turn % 2 == 0 ? times(angle, series_sum(of_sine, square)) : series_sum(of_cosine, square);
  return turn < 2 ? value.high : -value.high;
}

}  // namespace

extern "C" {

double hypot(double x, double y) { return static_cast<double>(sqrtl(Long{x} * Long{x} + Long{y} * Long{y})); }
double sin(double x) {
  if (fabs(x) < 0x1.0p-27) return x;
  return fabs(x) < largest_angle ? sine(x, 0) : static_cast<double>(sinl(Long{x}));
}
double cos(double x) { return fabs(x) < largest_angle ? sine(x, 1) : static_cast<double>(cosl(Long{x})); }
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
