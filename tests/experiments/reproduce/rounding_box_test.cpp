// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/scorecard.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {

TEST_CASE("rounding of printed inputs reaches the corners of their box, for rising and falling values") {
  const RoundedValue before = rounded(parse_printed_number("4.17"));
  const RoundedValue after = rounded(parse_printed_number("3.67"));
  const RoundedValue gain =
      propagate_rounding({before, after}, [](std::span<const double> ms) { return 1.0 - ms[1] / ms[0]; });
  CHECK(gain.value == Approx(0.5 / 4.17).epsilon(tests::few_ulp));
  CHECK(gain.rounding.low == Approx(1.0 - 3.675 / 4.165).epsilon(tests::few_ulp));
  CHECK(gain.rounding.high == Approx(1.0 - 3.665 / 4.175).epsilon(tests::few_ulp));
}

TEST_CASE("a printed percentage becomes a share, its rounding with it") {
  const RoundedValue share = rounded(parse_printed_number("11.7"), 0.01);
  CHECK(share.value == Approx(0.117).epsilon(tests::few_ulp));
  CHECK(share.rounding.low == Approx(0.1165).epsilon(tests::few_ulp));
  CHECK(share.rounding.high == Approx(0.1175).epsilon(tests::few_ulp));
}

TEST_CASE("each of ten inputs may be at either limit, and more than ten are rejected") {
  const std::vector<RoundedValue> tenths(10, {.value = 0.1, .rounding = {0.0, 1.0}});
  const auto sum = [](std::span<const double> in) {
    double total = 0.0;
    for (const double value : in) total += value;
    return total;
  };
  const RoundedValue whole = propagate_rounding(tenths, sum);
  CHECK(whole.rounding.low == 0.0);
  CHECK(whole.rounding.high == 10.0);
  CHECK_THROWS_AS(propagate_rounding(std::vector<RoundedValue>(11, tenths[0]), sum), std::logic_error);
  CHECK_THROWS_AS(propagate_rounding({}, sum), std::logic_error);
}

}  // namespace foredraft::experiments
