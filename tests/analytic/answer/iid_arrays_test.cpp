// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/iid_arrays.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "tests/analytic/reference.hpp"

namespace foredraft::analytic {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr Convention conventions[] = {Convention::bonus, Convention::no_bonus};

/// Points with one value of each argument a point.
struct Points {
  std::vector<double> alpha, gamma, c;

  void add(double one_alpha, double one_gamma, double one_c) {
    alpha.push_back(one_alpha);
    gamma.push_back(one_gamma);
    c.push_back(one_c);
  }
  [[nodiscard]] std::size_t size() const { return alpha.size(); }
  [[nodiscard]] IidPoints view(Convention convention) const { return {alpha, gamma, c, convention}; }
};

class Uniform {
 public:
  double operator()(double low, double high) {
    return low + (high - low) * static_cast<double>(bits_() >> 11U) * 0x1p-53;
  }

 private:
  std::mt19937_64 bits_{7};
};

std::vector<double> hard_alphas() {
  std::vector<double> alphas{0.0, 1.0, 0.5, 0.25, std::sqrt(0.5), std::sqrt(0.125), 5e-324, 1e-300, 1e-17};
  for (int i = 1; i <= 53; ++i) {
    alphas.push_back(1.0 - std::ldexp(1.0, -i));
    alphas.push_back(1.0 - std::ldexp(1.7, -i - 1));
    alphas.push_back(std::ldexp(1.3, -i));
  }
  for (const double alpha : {0.25, 0.5, std::sqrt(0.5), std::sqrt(0.125)}) {
    alphas.push_back(std::nextafter(alpha, 0.0));
    alphas.push_back(std::nextafter(alpha, 1.0));
  }
  return alphas;
}

/// From the limits of both arguments to the end of the vectorized range and beyond.
Points hard_points() {
  Points points;
  const std::vector<double> gammas{1,          2,     5,   14,   15,   16,     17,      18,      31,
                                   32,         33,    100, 1000, 4095, 4096,   1048576, 9999999, 134217726.,
                                   134217727., 1.5e8, 1e9, 1e12, 1e15, 0x1p53, 7e18};
  for (const double alpha : hard_alphas()) {
    for (const double gamma : gammas) points.add(alpha, gamma, 0.01 + 1e-3 * alpha);
  }
  Uniform uniform;
  for (int i = 0; i < 100'000; ++i) {
    const double decades = uniform(-17.0, 0.0);
    const double alpha = i % 2 == 0 ? uniform(0.0, 1.0) : 1.0 - std::pow(10.0, decades);
    // As long as drafts that gain at such an alpha, so that alpha^n is neither 0 nor 1.
    const double length = i % 4 == 1 ? std::pow(10.0, uniform(-1.0, 1.0) - decades) : std::pow(10.0, uniform(0.0, 3.0));
    points.add(alpha, std::clamp(std::floor(length), 1.0, 1e15), uniform(0.0, 2.0));
  }
  return points;
}

std::int64_t ulps_between(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

std::vector<double> tokens_of(const Points& points, Convention convention) {
  std::vector<double> tokens(points.size());
  tokens_per_iteration(points.view(convention), tokens);
  return tokens;
}

std::vector<double> speedups_of(const Points& points, Convention convention) {
  std::vector<double> values(points.size());
  speedups(points.view(convention), values);
  return values;
}

std::vector<double> best_of(const Points& points, Convention convention) {
  std::vector<double> gammas(points.size());
  best_gammas(points.view(convention), gammas);
  return gammas;
}

/// Settings over all decades, ties, and near-ties.
Points hard_settings() {
  Points points;
  for (const double alpha : hard_alphas()) {
    for (const double c : {0.0, 5e-324, 1e-300, 1e-17, 1e-6, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0, 1e10, 1e300}) {
      points.add(alpha, 1.0, c);
    }
    points.add(alpha, 1.0, alpha);  // a draft that just does not gain
    points.add(alpha, 1.0, std::nextafter(alpha, 0.0));
  }
  // Costs at which two draft lengths tie to the last bit: c = m / (tokens - gamma m), m = alpha^n.
  for (const double alpha : {0.5, 0.75, 0.875, 0.9}) {
    double survival = alpha;
    double tokens = 1.0;
    for (double gamma = 0.0; gamma < 70.0; ++gamma) {
      for (const double first : {0.0, 1.0}) {
        const double c = survival / (tokens - (gamma + first) * survival);
        if (!(c > 0.0)) continue;
        for (const double near : {c, std::nextafter(c, 0.0), std::nextafter(c, 1.0)}) points.add(alpha, 1.0, near);
      }
      tokens += survival;
      survival *= alpha;
    }
  }
  Uniform uniform;
  for (int i = 0; i < 50'000; ++i) {
    const double alpha = i % 2 == 0 ? uniform(0.05, 1.0) : 1.0 - std::pow(10.0, uniform(-16.0, 0.0));
    points.add(alpha, 1.0, i % 3 == 0 ? uniform(0.0, 1.0) : std::pow(10.0, uniform(-8.0, 1.0)));
  }
  return points;
}

}  // namespace

TEST_CASE("arrays are within 4 ulp of single points") {
  const Points points = hard_points();
  for (const Convention convention : conventions) {
    const std::vector<double> tokens = tokens_of(points, convention);
    const std::vector<double> quick = speedups_of(points, convention);
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto gamma = static_cast<std::int64_t>(points.gamma[i]);
      const double one = tokens_per_iteration(IidIteration{points.alpha[i], gamma, convention});
      const double one_speedup = one / (1.0 + points.gamma[i] * points.c[i]);
      const std::int64_t distance = std::max(ulps_between(tokens[i], one), ulps_between(quick[i], one_speedup));
      const std::int64_t allowed = max_tokens(gamma, convention) <= 16 ? 0 : 4;
      if (distance > allowed) {
        CAPTURE(points.alpha[i], points.gamma[i], tokens[i], one);
        CHECK(distance <= allowed);
      }
      largest = std::max(largest, distance);
    }
    CHECK(largest > 0);  // long arrays do not use the function for one point
  }
}

// Against the sum in 700 digits: detects an error that the vectors and the function for one point share.
TEST_CASE("tokens of arrays are within 3 ulp of the sum") {
  constexpr double unit = 2.3e-16;
  Points points;
  for (const double alpha : hard_alphas()) {
    if (alpha == 0.0 || alpha == 1.0) continue;
    for (const double gamma : {16.0, 20.0, 100.0, 12345.0, 1e8}) points.add(alpha, gamma, 0.1);
  }
  const std::vector<double> tokens = tokens_of(points, Convention::bonus);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CAPTURE(points.alpha[i], points.gamma[i]);
    const auto n = static_cast<std::int64_t>(points.gamma[i]) + 1;
    CHECK(tests::relative_error(tokens[i], tests::iid_moments(points.alpha[i], n).mean) < 3.0 * unit);
  }
}

TEST_CASE("arrays choose the best gamma of single points, ties included") {
  const Points points = hard_settings();
  for (const Convention convention : conventions) {
    const std::vector<double> gammas = best_of(points, convention);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const BestGamma one = best_gamma(IidSetting{points.alpha[i], points.c[i], convention, Drafting::autoregressive});
      if (gammas[i] == (one.gamma ? static_cast<double>(*one.gamma) : unbounded)) continue;
      ++differ;
      CAPTURE(points.alpha[i], points.c[i], gammas[i], one.gamma.value_or(-1));
      CHECK(differ == 0);
    }
  }
}

TEST_CASE("arrays have the same bits on every instruction set") {
  const Points points = hard_points();
  const Points settings = hard_settings();
  const auto compute = [&] {
    std::vector<std::vector<double>> all;
    for (const Convention convention : conventions) {
      all.push_back(tokens_of(points, convention));
      all.push_back(speedups_of(points, convention));
      all.push_back(best_of(settings, convention));
    }
    return all;
  };
  const auto restrict = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
  };
  restrict(HWY_SCALAR | HWY_EMU128);
  const auto scalar = compute();
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    restrict(target);
    INFO(hwy::TargetName(target));
    CHECK(compute() == scalar);
  }
  restrict(0);
  CHECK(compute() == scalar);
}

TEST_CASE("a value shared by all points gives the same bits as one value a point, for any number of points") {
  Uniform uniform;
  for (const std::size_t size : {1U, 2U, 3U, 7U, 8U, 9U, 1023U, 1024U, 1025U, 3000U}) {
    CAPTURE(size);
    for (const double gamma : {1.0, 5.0, 40.0}) {
      Points points;
      for (std::size_t i = 0; i < size; ++i) points.add(uniform(0.0, 1.0), gamma, 0.1);
      const std::vector<double> one_gamma{gamma};
      const std::vector<double> one_c{0.1};
      std::vector<double> quick(size);
      speedups({points.alpha, one_gamma, one_c, Convention::bonus}, quick);
      CHECK(quick == speedups_of(points, Convention::bonus));
    }
  }
}

TEST_CASE("a check of many values finds one out of range, and any change, at every index") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t size : {1U, 3U, 8U, 17U, 1000U}) {
    std::vector<double> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<double>(i % 7);
    const Judged sound = judged(values, 0.0, 6.0, true);
    CHECK(sound.inside);
    CHECK(sound.fingerprint == judged(values, -1.0, 1.0, false).fingerprint);
    for (std::size_t i = 0; i < size; ++i) {
      CAPTURE(size, i);
      const double before = values[i];
      for (const double wrong : {-1.0, 6.5, 7.0, not_a_number, unbounded}) {
        values[i] = wrong;
        CHECK_FALSE(judged(values, 0.0, 6.0, true).inside);
      }
      values[i] = 1.5;
      CHECK_FALSE(judged(values, 0.0, 6.0, true).inside);
      CHECK(judged(values, 0.0, 6.0, false).inside);
      CHECK(judged(values, 0.0, 6.0, false).fingerprint != sound.fingerprint);
      values[i] = before;
      if (i == 0 || values[i - 1] == values[i]) continue;
      std::swap(values[i - 1], values[i]);
      CHECK(judged(values, 0.0, 6.0, true).fingerprint != sound.fingerprint);
      std::swap(values[i - 1], values[i]);
    }
  }
  // The lower bits of round numbers are 0, and so would be the product of a difference and a distance of 2^12.
  std::vector<double> many(40'000, 3.0);
  many.front() = 1.0;
  many[32'768] = 2.0;
  const Judged before = judged(many, 0.0, 6.0, true);
  std::swap(many.front(), many[32'768]);
  CHECK(judged(many, 0.0, 6.0, true).fingerprint != before.fingerprint);
  const std::vector<double> huge(9, 0x1p51);
  CHECK_FALSE(judged(huge, 0.0, 0x1p60, true).inside);
  CHECK(judged(huge, 0.0, 0x1p60, false).inside);
}

}  // namespace foredraft::analytic
