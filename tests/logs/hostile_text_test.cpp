// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "tests/logs/logs_testing.hpp"

/// Long lines, wide tables and many names: the answer comes, and memory has a bound.
namespace foredraft::tests {
namespace {

constexpr std::size_t long_line = 1'000'000;  // bytes; what is quadratic in them does not end

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a line of equals signs is read up to its end") {
  const std::string line = "rounds=5 generated=10 accept" + std::string(long_line, '=') + " accepted=5 tps=20";
  const auto runs = posted_runs(line + "\n", "key-line");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->accepted_tokens == 5);
  CHECK(runs[0].times.tpot_ms == near(50.0));
}

TEST_CASE("a line of drawn bars has a cell between each two") {
  constexpr std::size_t bars = long_line / 3;
  for (const char* bar : {"\xE2\x94\x82", "\xE2\x94\x83", "\xE2\x95\x91"}) {
    CHECK(logs::table_cells(repeated(bar, bars), logs::TableLayout::bars).size() == bars - 1);
  }
}

TEST_CASE("GuideLLM's console: lines that are too long and a fourth row are no headings") {
  const std::string table =
      "| Benchmark | ITL || Output Tok/Sec ||\n| Strategy | ms || Per Sec ||\n| | Mdn | p95 | Mean | p95 |\n";
  const std::string row = "| synchronous | 20.0 | 25.0 | 50.0 | 60.0 |\n";
  const auto tpot_of = [&](const std::string& between) {
    const auto runs = posted_runs(table + between + row, "guidellm-console");
    return runs.empty() ? 0.0 : runs[0].times.tpot_ms.value_or(0.0);
  };
  CHECK(tpot_of("") == 20.0);
  CHECK(tpot_of("| Benchmark |" + std::string(3000, 'a') + std::string(3000, '|') + "\n") == 20.0);
  CHECK(tpot_of(repeated("| Strategy | more |\n", 9)) == 20.0);
}

TEST_CASE("a table of very many arms is named, not read") {
  std::string head = "| prompt |", row = "| code |";
  for (int k = 1; k <= 4000; ++k) {
    head += fmt::format(" K={} tok/s |", k);
    row += " 50 |";
  }
  const std::string rule = "|---" + repeated("|---", 4000) + "|\n";
  CHECK(problem(head + "\n" + rule + row + "\n").find("prompt: a table of 4001 columns") != std::string::npos);
  // Each arm repeats the columns that all share.
  head = row = "|";
  for (int k = 1; k <= 60; ++k) {
    head += fmt::format(" K={} tok/s | note {} |", k, k);
    row += " 50 | |";
  }
  CHECK(problem(head + "\n" + repeated(row + "\n", 300)).find("300 rows and 60 runs in each") != std::string::npos);
}

TEST_CASE("a block of very many keys or of a very long one keeps those of its beginning") {
  logs::KeyValueBlock block;
  for (int i = 0; i < 5000; ++i) CHECK(block.add(fmt::format("key {}", i), "1", i));
  CHECK(block.has("key 1000"));
  CHECK_FALSE(block.has("key 4000"));
  logs::KeyValueBlock other;
  CHECK(other.add(std::string(5000, 'a'), "1", 1));
  CHECK(other.add("a", "1", 2));
  CHECK_FALSE(other.add("a", "2", 3));
  CHECK_FALSE(other.has(std::string(5000, 'a')));
}

TEST_CASE("llama-server has few drafting methods") {
  std::string log;
  for (int i = 0; i < 100; ++i) {
    log +=
        fmt::format("statistics m{}: #calls(b,g,a) = 4 5 4, #gen drafts = 5, #gen tokens = 10, #acc tokens = 5\n", i);
  }
  log += "slot print_timing: id  0 | task 9 | eval time =    4000.00 ms /   200 tokens\n";
  CHECK(read_log(log).settings.method == "m63");
}

TEST_CASE("runs that all differ in their conditions have a maximum number") {
  std::string text = "gamma,steps,accepted_at_1,category\n";
  for (int i = 0; i < 70'000; ++i) text += fmt::format("1,9,3,c{}\n", i);
  CHECK(problem(text).find("that all differ in their conditions") != std::string::npos);
}

TEST_CASE("counts whose sum is not an integer of a program leave the positions as they are") {
  constexpr std::int64_t count = logs::max_logged_count;
  logs::AcceptanceCounts counts{.steps = count,
                                .accepted_tokens = count - 2049,
                                .accepted_at = Counts(2049, count),  // adds up to 2^53 modulo 2^64
                                .accepted_at_rounding = 1.0};
  logs::fit_to_total(counts);
  CHECK(counts.accepted_at == Counts(2049, count));
}

TEST_CASE("rates with an exponent are rounded as they are printed") {
  logs::AcceptanceCounts counts{.steps = 1'234'567};
  const std::vector<double> rates{0.00001};
  logs::set_positions(counts, rates, std::nullopt, std::nullopt, 1);
  CHECK(counts.accepted_at_rounding == 6.0);  // 0.000005 of the steps
}

}  // namespace foredraft::tests
