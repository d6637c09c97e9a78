// SPDX-License-Identifier: Apache-2.0
#include "logs/line_fields.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace foredraft::tests {

using logs::clock_in;
using logs::count_after;
using logs::csv_cells;
using logs::key_value;
using logs::number_after;
using logs::take_numbers;

TEST_CASE("numbers of lines may have commas between thousands, exponents, and text after them") {
  CHECK(number_after("a: 1,355.35 ms", "a: ") == 1355.35);
  CHECK(number_after("a: 1.5e+09", "a: ") == 1.5e9);
  CHECK(number_after("a: 2.", "a: ") == 2.0);
  CHECK(number_after("a: 12eggs", "a: ", "eggs") == 12.0);
  CHECK(number_after("a: -3", "a: ") == -3.0);
  CHECK(std::isnan(number_after("a: nan%", "a: ", "%").value_or(0.0)));
  CHECK_FALSE(number_after("a: none", "a: "));
  CHECK_FALSE(number_after("a: 1e999", "a: "));
  CHECK_FALSE(number_after("a: ", "a: "));
}

TEST_CASE("a label is found as a word of its own, and its number only with its unit") {
  CHECK(count_after("Unaccepted: 3 tokens, Accepted: 5 tokens", "Accepted: ", " tokens") == 5);
  CHECK_FALSE(count_after("Accepted: 5 tok", "Accepted: ", " tokens"));
  CHECK_FALSE(count_after("Accepted: 5.5 tokens", "Accepted: ", " tokens"));
  CHECK_FALSE(count_after("Accepted: -5 tokens", "Accepted: ", " tokens"));
  CHECK_FALSE(count_after("Accepted: 1e300 tokens", "Accepted: ", " tokens"));
}

TEST_CASE("lists of numbers end where no comma follows") {
  CHECK(take_numbers("0.5, 0.25, 0.125, Avg") == std::vector<double>{0.5, 0.25, 0.125});
  CHECK(take_numbers("1,234, 5 6") == std::vector<double>{1234.0, 5.0});
  CHECK(take_numbers("").empty());
}

TEST_CASE("clocks and keys of lines are found") {
  CHECK(clock_in("INFO 05-01 19:15:26 [metrics.py:101]") == 19 * 3600 + 15 * 60 + 26);
  CHECK_FALSE(clock_in("12:3:44"));
  CHECK_FALSE(clock_in("99:99:99"));
  CHECK_FALSE(clock_in("10:20:99"));
  CHECK(clock_in("24:00:00 23:59:60") == 86400);
  CHECK(key_value("  Mean TPOT (ms):   25.0 ")->key == "Mean TPOT (ms)");
  CHECK(key_value("n_draft = 16")->value == "16");
  CHECK_FALSE(key_value("text"));
}

TEST_CASE("cells of tables may be quoted and empty") {
  CHECK(csv_cells("a, \"b,c\" ,,\"d\"\"e\"") == std::vector<std::string>{"a", "b,c", "", "d\"e"});
  CHECK(csv_cells("") == std::vector<std::string>{""});
  CHECK(csv_cells("\"open, a") == std::vector<std::string>{"\"open, a"});
}

TEST_CASE("a line that draws has nothing else, whatever it draws with") {
  for (const char* line : {"|---|:-:|", "=====", "+--+", "\xE2\x94\x9C\xE2\x94\x80\xE2\x94\xBC\xE2\x94\x80\xE2\x94\xA4",
                           "\xE2\x95\x90\xE2\x95\x90 \xE2\x95\x90", " \xE2\x94\x81\xE2\x94\x81 "}) {
    INFO(line);
    CHECK(logs::is_ruling(line));
  }
  for (const char* line : {"", "| - |", "a--b", "\xE6\x8E\xA5--\xE5\x8F\x97", "\xE2\x94\x82", "\xE2--"}) {
    INFO(line);
    CHECK_FALSE(logs::is_ruling(line));
  }
}

}  // namespace foredraft::tests
