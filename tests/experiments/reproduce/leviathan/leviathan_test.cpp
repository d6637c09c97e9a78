// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"
#include "tests/experiments/reproduce/reproduced.hpp"

namespace foredraft::experiments {

TEST_CASE("every printed cell of the Leviathan table of operations and speedups follows exactly") {
  const ExperimentResult result = tests::reproduced("leviathan-table1");
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 12);
  CHECK(result.rows.size() == 24);
  CHECK(result.artifacts.size() == 3);
}

TEST_CASE("the T5 table yields nine fitted costs and three speedups that no i.i.d. acceptance explains") {
  const ExperimentResult result = tests::reproduced("leviathan-table2");
  CHECK(result.rows.size() == 48);
  CHECK(tests::rows_with(result, Kind::fitted, Verdict::shown) == 9);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::finding) == 3);
  CHECK_FALSE(any_failed(result.rows));
  // Two of the three lie above the bound for any process, one below.
  CHECK(std::count_if(result.rows.begin(), result.rows.end(), [](const ScorecardRow& row) {
          return row.note.find("no acceptance process explains it") != std::string::npos;
        }) == 2);
}

TEST_CASE("lenient acceptance starts where the table without lenience ends, and rises like a concave sum") {
  const ExperimentResult result = tests::reproduced("leviathan-table5");
  CHECK(result.rows.size() == 32);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 4);
  CHECK(tests::rows_with(result, Kind::out_of_reach, Verdict::shown) == 12);
  const auto note = [&](const char* row) {
    return std::find_if(
               result.rows.begin(), result.rows.end(),
               [&](const ScorecardRow& candidate) { return candidate.row == row && candidate.column == "alpha"; })
        ->note;
  };
  // By hand, x = 1 / lenience. At x = 2: above the chord from 0.615 at 1 to 0.755 at 10/3, 0.615 + 0.14 * 3 / 7, and
  // below the chord from 0.765 at 10/3 to 0.835 at 10, carried back: 0.765 - 0.07 / 5.
  CHECK(note("T5-small lenience=0.5").ends_with("allow 0.675 to 0.751"));
  // At x = 10: no less than 0.755, and the chord from 0.705 at 2 to 0.765 at 10/3 has passed 1.
  CHECK(note("T5-small lenience=0.1").ends_with("allow 0.755 to 1.000"));
}

TEST_CASE("the T5-small row of lenience is the one that the running text takes its speedups from") {
  const PublishedTable table = published_table("leviathan_table5");
  const PublishedTable claimed = published_table("claims");
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "approx_model") != "T5-small") continue;
    const std::string claim = "T5-small sampled with lenience " + table.text(row, "lenience");
    std::size_t at = 0;
    while (claimed.text(at, "claim") != claim) ++at;
    CHECK(claimed.text(at, "alpha") == table.text(row, "alpha"));
  }
}

TEST_CASE("the trace figure has a lane for each draft length, and its time runs forward") {
  const ExperimentResult result = tests::reproduced("leviathan-figure5");
  const std::string& data = result.artifacts.at(0).content;
  for (const char* lane : {"gamma = 7", "gamma = 3", "plain decoding"}) {
    CHECK(data.find(lane) != std::string::npos);
  }
  CHECK(result.text.find("24 iterations,  24.0 target steps, 1.00x") != std::string::npos);
}

}  // namespace foredraft::experiments
