// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Tables with a plain speed and a speedup in each row, and no drafting speed.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::Observation;

double tokens_per_s(const Observation& run) { return 1000.0 / run.times.tpot_ms.value_or(1.0); }

}  // namespace

TEST_CASE("a plain speed and a speedup are two runs") {
  const auto runs = posted_runs(
      "| Model | baseline tok/s | K | accept len | measured speedup |\n|---|---|---|---|---|\n"
      "| A-3B | 40 | 2 | 2.1 | 1.5x |\n| A-3B | 40 | 4 | 2.8 | +60% |\n| B-9B | 20 | 4 | 2.6 | 1.25 |\n",
      "table");
  REQUIRE(runs.size() == 6);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK_FALSE(runs[0].acceptance_length);
  CHECK_FALSE(runs[0].gamma);
  CHECK(tokens_per_s(runs[0]) == near(40.0));
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].acceptance_length == 2.1);
  CHECK(tokens_per_s(runs[1]) == near(60.0));
  CHECK(tokens_per_s(runs[3]) == near(64.0));
  CHECK(tokens_per_s(runs[5]) == near(25.0));
  CHECK(runs[5].stratum.category == runs[4].stratum.category);
  CHECK(runs[5].stratum.category != runs[3].stratum.category);
}

TEST_CASE("a column of drafters names the rows with speedups, a load tells them apart") {
  const auto named = posted_runs(
      "| drafter | plain t/s | speedup vs plain |\n|---|---|---|\n| EAGLE3 | 40 | 1.5x |\n| MTP K=2 | 40 | 1.25x |\n",
      "table");
  REQUIRE(named.size() == 4);
  CHECK(named[1].drafter == "eagle3");
  CHECK(named[3].gamma == 2);
  CHECK(named[2].decoding == Decoding::plain);
  const auto loaded =
      posted_runs("| users | AR tok/s | speedup (x) |\n|---|---|---|\n| 1 | 40 | 1.5 |\n| 16 | 320 | 0.9 |\n", "table");
  REQUIRE(loaded.size() == 4);
  CHECK(loaded[3].concurrency == 16.0);
  CHECK(loaded[3].times.output_tokens_per_s == near(288.0));
}

TEST_CASE("a drafting speed beside a speedup is read") {
  const auto runs = posted_runs(
      "| task | baseline tok/s | MTP | speedup |\n|---|---|---|---|\n| code | 40 | 61 | 1.52x |\n| chat | 40 | 50 | "
      "1.25x |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(tokens_per_s(runs[1]) == near(61.0));
  CHECK(runs[1].drafter == "mtp");
}

TEST_CASE("a block holds the known token if lengths and rates say so") {
  const auto gammas = [](const std::string& rows) {
    std::vector<std::int64_t> all;
    for (const Observation& run :
         posted_runs("| config | block size | accept rate | tokens/step | tok/s |\n|---|---|---|---|---|\n"
                     "| baseline | | | | 30 |\n" +
                         rows,
                     "table"))
      all.push_back(run.gamma.value_or(0));
    return all;
  };
  CHECK(gammas("| MTP | 3 | 0.7 | 2.4 | 40 |\n| MTP | 5 | 50% | 3.0 | 44 |\n") == std::vector<std::int64_t>{0, 2, 4});
  // 1 + rate * block: K, as length and rate tell.
  CHECK(gammas("| MTP | 3 | 0.7 | 3.1 | 40 |\n") == std::vector<std::int64_t>{0, 3});
  // Neither.
  CHECK(gammas("| MTP | 16 | 0.7 | 3.2 | 40 |\n").back() != 15);
}

}  // namespace foredraft::tests
