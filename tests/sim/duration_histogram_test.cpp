// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random_stream.hpp"

namespace foredraft::sim {

TEST_CASE("quantiles of durations equal those of the sorted list, to the resolution of the histogram") {
  RandomStream random(5, {.purpose = Purpose::test, .point = 0, .block = 0});
  DurationHistogram histogram;
  std::vector<std::int64_t> durations;
  for (int i = 0; i < 5000; ++i) {
    durations.push_back(static_cast<std::int64_t>(std::exp(30.0 * random.uniform())));
    histogram.add(durations.back());
  }
  std::sort(durations.begin(), durations.end());
  for (const double level : {0.001, 0.25, 0.5, 0.95, 0.99, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(level * 5000.0)) - 1;
    const auto exact = static_cast<double>(durations[rank]);
    CAPTURE(level);
    CHECK(std::abs(static_cast<double>(histogram.quantile(level)) - exact) <= DurationHistogram::resolution * exact);
  }
}

TEST_CASE("short durations are exact, and even the longest one has a bucket") {
  for (const std::int64_t duration : {0, 1, 127, 128, 200, 255}) {
    DurationHistogram histogram;
    histogram.add(duration);
    CHECK(histogram.quantile(0.5) == duration);
  }
  DurationHistogram histogram;
  constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  histogram.add(longest);
  const auto exact = static_cast<double>(longest);
  CHECK(std::abs(static_cast<double>(histogram.quantile(1.0)) - exact) <= DurationHistogram::resolution * exact);
}

TEST_CASE("merging histograms gives the histogram of all durations") {
  DurationHistogram one;
  DurationHistogram other;
  DurationHistogram both;
  for (const std::int64_t duration : {3, 70'000, 12}) {
    one.add(duration);
    both.add(duration);
  }
  for (const std::int64_t duration : {5'000'000'000, std::int64_t{3}}) {
    other.add(duration);
    both.add(duration);
  }
  DurationHistogram reversed = other;
  one.merge(other);
  CHECK(one == both);
  CHECK(one.count() == 5);
  CHECK(reversed.count() == 2);
  CHECK(DurationHistogram().quantile(0.5) == 0);
}

}  // namespace foredraft::sim
