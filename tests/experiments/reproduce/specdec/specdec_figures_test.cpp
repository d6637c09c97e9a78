// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "experiments/reproduce/registry.hpp"
#include "tests/experiments/reproduce/reproduced.hpp"

namespace foredraft::experiments {

TEST_CASE("the shares of a speedup distribution add up for both populations, and most sentences gain 3x to 7x") {
  for (const char* id : {"emnlp-figure6", "iclr-figure4"}) {
    const ExperimentResult result = tests::reproduced(id);
    double alike = 0.0;
    double varied = 0.0;
    for (const auto& line : tests::data_lines(result)) {
      (line.at(0) == "all sentences alike" ? alike : varied) += std::stod(line.at(3));
    }
    CHECK(alike == Approx(1.0));
    CHECK(varied == Approx(1.0));
    REQUIRE(result.rows.size() == 2);
    for (const ScorecardRow& row : result.rows) {
      CHECK(row.kind == Kind::simulated);
      CHECK(row.ours.value() > 0.5);
    }
    // Sentences with different acceptance have a wider spread.
    CHECK(result.rows[1].ours.value() < result.rows[0].ours.value());
  }
}

TEST_CASE("the quality figure has our speed for SpecDec and only its drafter") {
  int predicted = 0;
  const auto lines = tests::data_lines(tests::reproduced("iclr-figure2"));
  for (const auto& line : lines) predicted += line.at(4).empty() ? 0 : 1;
  CHECK(predicted == 4);
  CHECK(lines.size() == 23);  // of 28 rows, five print no speed
}

}  // namespace foredraft::experiments
