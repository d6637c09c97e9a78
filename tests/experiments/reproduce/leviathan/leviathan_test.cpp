#include <algorithm>
#include <catch2/catch.hpp>

#include "experiments/reproduce/experiments.hpp"

namespace foredraft::experiments {
namespace {

const ExperimentSettings settings{.seed = 1, .threads = 2, .note = [](std::string_view) {}};

std::ptrdiff_t count(const std::vector<ScorecardRow>& rows, Kind kind, Verdict verdict) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](const ScorecardRow& row) { return row.kind == kind && row.verdict == verdict; });
}

}  // namespace

TEST_CASE("every printed cell of the Leviathan table of operations and speedups follows exactly") {
  const ExperimentResult result = leviathan_table1(settings);
  CHECK(count(result.rows, Kind::exact, Verdict::pass) == 12);
  CHECK(result.rows.size() == 24);
  CHECK(result.artifacts.size() == 3);
}

TEST_CASE("the T5 table yields nine fitted costs and three speedups that no i.i.d. acceptance explains") {
  const ExperimentResult result = leviathan_table2(settings);
  CHECK(result.rows.size() == 48);
  CHECK(count(result.rows, Kind::fitted, Verdict::shown) == 9);
  CHECK(count(result.rows, Kind::exact, Verdict::finding) == 3);
  CHECK_FALSE(any_failed(result.rows));
  // Two of the three lie above the bound for any process, one below.
  CHECK(std::count_if(result.rows.begin(), result.rows.end(), [](const ScorecardRow& row) {
          return row.note.find("no acceptance process explains it") != std::string::npos;
        }) == 2);
}

TEST_CASE("the trace figure has a lane for each draft length, and its time runs forward") {
  const ExperimentResult result = leviathan_figure5(settings);
  const std::string& data = result.artifacts.at(0).content;
  for (const char* lane : {"gamma = 7", "gamma = 3", "plain decoding"}) {
    CHECK(data.find(lane) != std::string::npos);
  }
  CHECK(result.text.find("24 iterations,  24.0 target steps, 1.00x") != std::string::npos);
}

}  // namespace foredraft::experiments
