// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "experiments/sweep/run_sweep.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/temporary_folder.hpp"

/// Unusual answers in the tables of a sweep and in its points.csv.
namespace foredraft::experiments {
namespace {

void write_tables(const SweepConfig& config, const std::string& folder) { run_sweep(config, folder, {.threads = 1}); }

}  // namespace

TEST_CASE("a star marks a best gamma whose optimum lies beyond the axis, and the note gives it") {
  const tests::TemporaryFolder folder;
  write_tables(tests::config_of("[axes]\nalpha = [0.5, 0.9]\ngamma = [1, 3]\nc = [0.1]\n"), folder / "a");
  const std::string page = tests::content_of(folder / "a/summary.md");
  CHECK_THAT(page, Catch::Contains("| 3   1.442x |"));  // the optimum, gamma 2, lies between the values of the axis
  CHECK_THAT(page, Catch::Contains("| 3\\*  2.645x |"));
  CHECK_THAT(page,
             Catch::EndsWith("\n\\* end of the axis: the optimum is gamma 10 (3.431x) at alpha = 0.9, c = 0.1\n"));
}

TEST_CASE("a sweep of many points shows those of largest speedup") {
  const tests::TemporaryFolder folder;
  write_tables(
      tests::config_of("[axes]\nalpha = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 0.8, 0.7, 0.61, 0.62, 0.63, 0.64]\n"
                       "[fixed]\ngamma = 3\nc = 0.1\n"),
      folder / "a");
  const std::string page = tests::content_of(folder / "a/summary.md");
  CHECK_THAT(page, Catch::StartsWith("the 12 of 13 points with the largest speedup (13 points: 13 alpha; "));
  const std::vector<std::string> falling{"| 0.9 |",  "| 0.8 |", "| 0.7 |", "| 0.64 |", "| 0.63 |", "| 0.62 |",
                                         "| 0.61 |", "| 0.6 |", "| 0.5 |", "| 0.4 |",  "| 0.3 |",  "| 0.2 |"};
  std::size_t at = 0;
  for (const std::string& row : falling) {
    INFO(row);
    at = page.find(row, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK_THAT(page, !Catch::Contains("| 0.1 |"));
  write_tables(
      tests::config_of("[axes]\nalpha = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 0.8, 0.7, 0.61, 0.62, 0.63, 0.64]\n"
                       "[fixed]\ngamma = 3\n"),
      folder / "b");
  CHECK_THAT(tests::content_of(folder / "b/summary.md"), Catch::StartsWith("the first 12 of 13 points ("));
}

TEST_CASE("tables of a sweep show 0.79 for a computed axis value of 0.7899999999999999") {
  const tests::TemporaryFolder folder;
  const std::string alphas = "[axes]\nalpha = [0.7899999999999999, 0.5]\n";
  write_tables(tests::config_of(alphas + "[fixed]\ngamma = 3\nc = 0.1\n"), folder / "a");
  CHECK_THAT(tests::content_of(folder / "a/summary.md"), Catch::Contains("| 0.79 |"));
  CHECK_THAT(tests::content_of(folder / "a/points.csv"), Catch::Contains("0.7899999999999999"));
  write_tables(tests::config_of(alphas + "gamma = [1, 3]\nc = [0.30000000000000004]\n"), folder / "b");
  CHECK_THAT(tests::content_of(folder / "b/summary.md"), Catch::Contains("| 0.79 |") && Catch::Contains("c = 0.3 "));
}

TEST_CASE("the heading of a sweep states how many iterations were run, for a recording as many as it has") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "t.csv", "sequence,outcome\n0,1\n0,1\n0,0\n0,1\n0,0\n1,1\n1,1\n1,0\n");
  write_tables(tests::config_of("[axes]\ngamma = [1, 2]\n[fixed]\nprocess = \"trace\"\n\"process.file\" = \"" +
                                (folder / "t.csv") + "\"\n[simulation]\niterations = 1000\n"),
               folder / "a");
  CHECK_THAT(tests::content_of(folder / "a/summary.md"),
             Catch::StartsWith("every point (2 points: 2 gamma; 3 to 5 iterations each; "));
}

TEST_CASE("an unbounded best gamma is inf in points.csv") {
  const tests::TemporaryFolder folder;
  write_tables(tests::config_of("[axes]\nalpha = [0.5, 0.9]\ngamma = [1, 3]\nc = [0.0]\n"), folder / "a");
  CHECK_THAT(tests::content_of(folder / "a/points.csv"), Catch::Contains(",inf,2") && !Catch::Contains("unbounded"));
  CHECK_THAT(tests::content_of(folder / "a/summary.md"),
             Catch::Contains("the optimum is unbounded (2.000x) at alpha = 0.5"));
}

TEST_CASE("of draft lengths that are equally fast the table of a sweep names the shortest") {
  const tests::TemporaryFolder folder;
  // Nothing is accepted and drafts are free, or all is accepted and a draft costs as much as a token: speedup 1 for any
  // gamma.
  for (const std::string gammas : {"1, 2, 3", "3, 1, 2"}) {
    write_tables(tests::config_of("[axes]\nalpha = [0, 1]\ngamma = [" + gammas + "]\nc = [0, 1]\n"), folder / gammas);
    const std::string page = tests::content_of(folder / (gammas + "/summary.md"));
    CHECK_THAT(page, Catch::Contains("| 0 | 1   1.000x |"));
    CHECK_THAT(page, Catch::Contains("| 1   1.000x |\n"));
  }
}

}  // namespace foredraft::experiments
