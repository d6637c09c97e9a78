// SPDX-License-Identifier: Apache-2.0
#include "core/numbers.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "core/command_line.hpp"

namespace foredraft {

TEST_CASE("a quantity has at most one suffix: percent, powers of 1000 in small letters, of 1024 in large ones") {
  CHECK(parse_quantity("80%") == 0.8);
  CHECK(parse_quantity("0.5%") == 0.005);
  CHECK(parse_quantity("32k") == 32'000.0);
  CHECK(parse_quantity("32K") == 32'768.0);
  CHECK(parse_quantity("1.5m") == 1.5e6);
  CHECK(parse_quantity("2M") == 2'097'152.0);
  CHECK(parse_quantity("1g") == 1e9);
  CHECK(parse_quantity("1G") == 1'073'741'824.0);
  CHECK(parse_quantity("1e6") == 1e6);
  for (const char* text : {"", "%", "k", "80%%", "32 k", "32kb", "k32", "nan%", "1e308g"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_quantity(text));
  }
}

TEST_CASE("options take quantities, and one quantity in either of two units") {
  const CommandSpec command{.name = "c",
                            .arguments = "",
                            .summary = "",
                            .options = {{"context", "N", ""}, {"share", "S", ""}, {"x-us", "U", ""}, {"x-ms", "M", ""}},
                            .min_positional = 0,
                            .max_positional = 0,
                            .examples = {}};
  CommandLine line(command, {"--context", "4k,1K", "--share", "25%", "--x-ms", "1.5"});
  CHECK(line.integers("context", 1, 1'000'000) == std::vector<std::int64_t>{1024, 4000});
  CHECK(line.real("share", 0.0, 1.0) == 0.25);
  line.convert("x-ms", "x-us", 1e3);
  CHECK(line.real("x-us", 0.0, 1e9) == 1500.0);
  CHECK_FALSE(line.has("x-ms"));
  CHECK_NOTHROW(line.done());
  CommandLine both(command, {"--x-us", "1", "--x-ms", "1", "--context", "1.5"});
  both.convert("x-ms", "x-us", 1e3);
  CHECK_FALSE(both.integers("context", 1, 10));
  CHECK_THROWS_WITH(both.done(),
                    Catch::Contains("--x-ms: mutually exclusive with --x-us") && Catch::Contains("invalid entry 1"));
}

TEST_CASE("typed numbers are shown as they were typed, computed ones without rounding residue") {
  CHECK(brief_number_text(0.79) == "0.79");
  CHECK(brief_number_text(0.1234567) == "0.1234567");
  CHECK(brief_number_text(3.0) == "3");
  CHECK(brief_number_text(1e-300) == "1e-300");
  const double mean = 0.79;  // of a Beta mixture with correlation 0.3, and of a Markov chain
  CHECK(brief_number_text((1.0 / 0.3 - 1.0) * (1.0 - mean)) == "0.49");
  CHECK(brief_number_text(mean - 0.3 * mean) == "0.553");
  CHECK(brief_number_text(0.1 + 0.2) == "0.3");
  CHECK(short_number_text(0.6 + 0.3 + 0.2) == "1.1");
  CHECK(short_number_text(1.0 + 3e-10) == "1.0000000003");  // beyond what a check of a sum allows
}

}  // namespace foredraft
