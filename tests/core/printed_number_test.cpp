// SPDX-License-Identifier: Apache-2.0
#include "core/table.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "foredraft/errors.hpp"

namespace foredraft {

TEST_CASE("a printed number stands for half a unit of its last digit either way") {
  const auto rounding = [](const char* text) { return parse_printed_number(text).rounding; };
  CHECK(rounding("0.8").low == 0.75);
  CHECK(rounding("0.8").high == 0.85);
  CHECK(rounding("0.80").low == 0.795);
  CHECK(rounding("0.80").high == 0.805);
  CHECK(rounding("7").low == 6.5);
  CHECK(rounding("7").high == 7.5);
  CHECK(rounding("2.4").high == 2.45);
  CHECK(rounding("-0.5").low == -0.55);
  CHECK(parse_printed_number("1.60").text == "1.60");
  CHECK(parse_printed_number("1.60").value == 1.6);
  CHECK(parse_printed_number("0." + std::string(308, '0') + "1").rounding.high > 0.0);  // below the normal numbers
}

TEST_CASE("text that is not a plain decimal number is rejected") {
  for (const char* text : {"", "1.2x", "x", "nan", "inf", "1e3", " 1"}) {
    CHECK_THROWS_AS(parse_printed_number(text), DomainError);
  }
}

TEST_CASE("intervals meet when they share a point, an end included") {
  CHECK(intersects({1.0, 2.0}, {2.0, 3.0}));
  CHECK(intersects({1.5, 1.6}, {1.0, 2.0}));
  CHECK_FALSE(intersects({1.0, 2.0}, {2.1, 3.0}));
  CHECK_FALSE(intersects({2.1, 3.0}, {1.0, 2.0}));
}

}  // namespace foredraft
