// SPDX-License-Identifier: Apache-2.0
#include "core/intervals.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "core/random_stream.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

using Pair = IntegerMoments<2>;

std::vector<Pair::Values> sample(std::size_t size) {
  RandomStream random(11, {.purpose = Purpose::test, .point = 0, .block = 0});
  std::vector<Pair::Values> values(size);
  for (auto& value : values) {
    const auto x = static_cast<std::int64_t>(random.next_u32() % 1000);
    value = {x, 3 * x - static_cast<std::int64_t>(random.next_u32() % 100)};
  }
  return values;
}

Pair moments_of(const std::vector<Pair::Values>& values) {
  Pair moments;
  for (const auto& value : values) moments.add(value);
  return moments;
}

}  // namespace

TEST_CASE("mean, covariance and standard error of a sample worked by hand") {
  // x = 1, 2, 3, 6: mean 3, deviations -2 -1 0 3, variance 14/3. y = 2, 2, 4, 4: mean 3, covariance (2+1+0+3)/3 = 2.
  const Pair moments = moments_of({{1, 2}, {2, 2}, {3, 4}, {6, 4}});
  CHECK(moments.mean(0) == 3.0);
  CHECK(moments.covariance(0, 0) == Approx(14.0 / 3.0).epsilon(tests::few_ulp));
  CHECK(moments.covariance(0, 1) == 2.0);
  CHECK(moments.covariance(1, 0) == 2.0);
  CHECK(moments.standard_error(0) == Approx(std::sqrt(14.0 / 12.0)).epsilon(tests::few_ulp));
}

TEST_CASE("any grouping and order of merging gives the same bits") {
  std::vector<Pair::Values> values = sample(1000);
  const Pair whole = moments_of(values);
  std::reverse(values.begin(), values.end());
  for (const std::size_t group : {1U, 7U, 64U, 999U}) {
    Pair merged;
    for (std::size_t start = 0; start < values.size(); start += group) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(start);
      const auto last = values.begin() + static_cast<std::ptrdiff_t>(std::min(start + group, values.size()));
      merged.merge(moments_of({first, last}));
    }
    CHECK(merged == whole);
  }
}

TEST_CASE("adding an observation n times equals adding it n times over") {
  Pair once;
  once.add({3, 5}, 4);
  CHECK(once == moments_of({{3, 5}, {3, 5}, {3, 5}, {3, 5}}));
}

TEST_CASE("a variance far below the squared mean keeps its precision") {
  // In floating point E[x^2] - E[x]^2 would lose all of them: the mean is 1e9, the variance 1/4 of n / (n - 1).
  Pair moments;
  moments.add({1'000'000'000, 0}, 1'000'000);
  moments.add({1'000'000'001, 0}, 1'000'000);
  CHECK(moments.covariance(0, 0) == Approx(0.25 * 2e6 / (2e6 - 1.0)).epsilon(tests::few_ulp));
}

TEST_CASE("the fallback beyond 127 bits stays right to many digits") {
  Pair moments;
  constexpr std::int64_t times = std::int64_t{1} << 50U;
  constexpr std::int64_t large = std::int64_t{1} << 25U;
  moments.add({0, 0}, times);
  moments.add({large, 0}, times);
  CHECK(moments.covariance(0, 0) ==
        Approx(0.25 * static_cast<double>(large) * static_cast<double>(large)).epsilon(1e-9));
}

TEST_CASE("what cannot be estimated is NaN, not zero") {
  Pair moments;
  CHECK(std::isnan(moments.mean(0)));
  moments.add({1, 1});
  CHECK(moments.mean(0) == 1.0);
  CHECK(std::isnan(moments.covariance(0, 0)));
  CHECK(std::isnan(moments.standard_error(0)));
}

}  // namespace foredraft
