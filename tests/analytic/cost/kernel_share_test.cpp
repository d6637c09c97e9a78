// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/published_costs.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A run as a list of spans of time, added up one after the other.
struct Timeline {
  IterationTimes times;
  int iterations;

  [[nodiscard]] double kernel() const {
    double sum = 0.0;
    for (int i = 0; i < iterations; ++i) sum += times.kernel;
    return sum;
  }

  [[nodiscard]] double whole() const {
    double sum = 0.0;
    for (int i = 0; i < iterations; ++i) {
      for (const double span : {times.drafting, times.target, times.kernel}) sum += span;
    }
    return sum;
  }
};

double saved(double before, double after) { return 1.0 - after / before; }

}  // namespace

TEST_CASE("a faster kernel saves its share of the whole run, as a timeline of spans adds up") {
  for (const IterationTimes before : {IterationTimes{1.5, 4.0, 0.5}, {0.0, 3.0, 9.0}, {2.0, 2.0, 0.0}}) {
    for (const double gain : {0.0, 0.117, 0.94, 1.0, -0.4}) {
      IterationTimes after = before;
      after.kernel *= 1.0 - gain;
      const double of_whole = saved(Timeline{before, 400}.whole(), Timeline{after, 400}.whole());
      CAPTURE(before.kernel, gain);
      CHECK(kernel_share(before) == Approx(Timeline{before, 400}.kernel() / Timeline{before, 400}.whole()));
      CHECK(wall_gain(kernel_share(before), gain) == Approx(of_whole).margin(second_route));
      if (before.kernel > 0.0 && gain != 0.0) {
        CHECK(implied_share(of_whole, gain) == Approx(kernel_share(before)).epsilon(second_route));
      }
    }
  }
}

TEST_CASE("fewer calls save time that no kernel saved, as a timeline of spans adds up") {
  for (const int calls : {400, 392, 80, 0, 900}) {
    for (const double gain : {0.0, 0.27, 0.9, -0.5}) {
      const Timeline before{{1.0, 4.0, 2.0}, 400};
      const Timeline after{{1.0, 4.0, 2.0 * (1.0 - gain)}, calls};
      const double of_kernel = saved(before.kernel(), after.kernel());
      CAPTURE(calls, gain);
      CHECK(total_gain(gain, calls / 400.0) == Approx(of_kernel).margin(second_route));
      CHECK(implied_call_ratio(of_kernel, gain) == Approx(calls / 400.0).margin(second_route));
      // An iteration that does not run saves its drafting and target step as well: the same law one level up.
      CHECK(total_gain(wall_gain(kernel_share(before.times), gain), calls / 400.0) ==
            Approx(saved(before.whole(), after.whole())).margin(second_route));
    }
  }
}

TEST_CASE("half the calls at 27 percent a call save 63.5 percent in all") {
  CHECK(total_gain(0.27, 0.5) == Approx(0.635).epsilon(few_ulp));
  CHECK(implied_call_ratio(0.635, 0.27) == Approx(0.5).epsilon(few_ulp));
}

TEST_CASE("the ends of gains, shares and calls are right without round-off") {
  CHECK(kernel_share({.drafting = 0.0, .target = 0.0, .kernel = 1e-300}) == 1.0);
  CHECK(kernel_share({.drafting = 1.0, .target = 1.0, .kernel = 0.0}) == 0.0);
  CHECK(total_gain(0.117, 1.0) == 0.117);
  CHECK(total_gain(0.117, 0.0) == 1.0);
  CHECK(total_gain(1.0, 7.0) == 1.0);
  CHECK(implied_call_ratio(1.0, 0.3) == 0.0);
  CHECK(wall_gain(1.0, -108.261) == -108.261);
  // A share above 1 is an answer: these gains cannot come from the kernel alone.
  CHECK(implied_share(0.109, 0.105) > 1.0);
  CHECK(implied_share(0.1, -0.2) == -0.5);
}

TEST_CASE("what is no time, share, gain or ratio is refused with its name") {
  CHECK_THROWS_WITH(kernel_share({.drafting = 0.0, .target = 0.0, .kernel = 0.0}),
                    Catch::Contains("invalid drafting + target + kernel=0"));
  CHECK_THROWS_WITH(kernel_share({.drafting = -1.0, .target = 1.0, .kernel = 1.0}),
                    Catch::Contains("invalid drafting=-1"));
  CHECK_THROWS_AS(kernel_share({.drafting = 1.0, .target = nan, .kernel = 1.0}), DomainError);
  CHECK_THROWS_AS(kernel_share({.drafting = 1.0, .target = 1.0, .kernel = unbounded}), DomainError);
  CHECK_THROWS_WITH(wall_gain(1.5, 0.1), Catch::Contains("invalid share=1.5"));
  CHECK_THROWS_WITH(wall_gain(0.5, 1.1), Catch::Contains("invalid part_gain=1.1"));
  CHECK_THROWS_WITH(implied_share(0.1, 0.0), Catch::Contains("invalid part_gain=0"));
  CHECK_THROWS_WITH(total_gain(0.1, -0.1), Catch::Contains("invalid call_ratio=-0.1"));
  CHECK_THROWS_WITH(implied_call_ratio(0.5, 1.0), Catch::Contains("invalid call_gain=1"));
  for (const double bad : {nan, unbounded, -unbounded}) {
    CHECK_THROWS_AS(wall_gain(bad, 0.1), DomainError);
    CHECK_THROWS_AS(wall_gain(0.1, bad), DomainError);
    CHECK_THROWS_AS(implied_share(bad, 0.1), DomainError);
    CHECK_THROWS_AS(implied_share(0.1, bad), DomainError);
    CHECK_THROWS_AS(total_gain(bad, 0.1), DomainError);
    CHECK_THROWS_AS(total_gain(0.1, bad), DomainError);
    CHECK_THROWS_AS(implied_call_ratio(bad, 0.1), DomainError);
    CHECK_THROWS_AS(implied_call_ratio(0.1, bad), DomainError);
  }
}

}  // namespace foredraft::analytic
