// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"
#include "tests/experiments/reproduce/reproduced.hpp"

namespace foredraft::experiments {
namespace {

const ScorecardRow& claim(const ExperimentResult& result, std::string_view name, std::string_view column) {
  const auto found = std::find_if(result.rows.begin(), result.rows.end(), [&](const ScorecardRow& row) {
    return row.column == column && row.row.find(name) != std::string::npos;
  });
  if (found == result.rows.end()) throw std::logic_error(std::string(name));
  return *found;
}

/// Run once for all tests: two of its rows are simulated.
const ExperimentResult& all_claims() {
  static const ExperimentResult result = tests::reproduced("claims");
  return result;
}

}  // namespace

TEST_CASE("every claim of the papers has an answer, and contradictions to their own tables are findings") {
  const ExperimentResult& result = all_claims();
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 18);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::finding) == 10);
  CHECK(tests::rows_with(result, Kind::fitted, Verdict::shown) == 2);
  CHECK(tests::rows_with(result, Kind::simulated, Verdict::shown) == 2);
  CHECK(claim(result, "most sentences", "value").note.find("% of sentences between 3x and 7x") != std::string::npos);
  for (const char* wording : {"memory shrinks", "one letter", "q is at most p", "for all Vicuna sizes"}) {
    const ScorecardRow& row = claim(result, wording, "text");
    CHECK_FALSE(row.published);
    CHECK(row.verdict == Verdict::finding);
  }
}

TEST_CASE("claims are compared with numbers worked by hand") {
  const ExperimentResult& result = all_claims();
  const auto ours = [&](const char* name) { return claim(result, name, "value").ours.value(); };
  CHECK(ours("bigram drafter") == Approx(1.25));
  CHECK(ours("argmax with lenience 0.1") == Approx((1.0 - std::pow(0.87, 9)) / 0.13 / 1.12));
  CHECK(ours("accelerated by around") == Approx((5.1 + 5.5 + 4.6 + 4.8) / 4.0));
  CHECK(ours("accelerates by at least") == Approx(1.4));
  CHECK(ours("accelerates by at most") == Approx(2.0));
  CHECK(ours("non-autoregressive") == Approx((59.10 + 63.79 + 60.15 + 65.42) / 4.0));
  CHECK(ours("average power") == Approx(100.0 * (110.0 / 86.0 - 1.0)));
  CHECK(ours("energy against") == Approx(100.0 * 6.05 / 25.54));
  CHECK(ours("carbon") == Approx(9.83 / 2.33));
  CHECK(ours("GPU hours") == Approx(100.0 * (1.0 - 0.05 / 0.27)));
  CHECK(ours("encoders") == Approx(100.0 * 11.38 / 73.46));
  CHECK(ours("exact variant better by at most") == Approx(12.5));
  CHECK(ours("sigmoid variant better by at least") == Approx(37.2));
  CHECK(ours("multi-stage MLP accelerates") == Approx(10.54 / 5.50));
  // The root of 1 + a + a^2 + a^3 = 2.41.
  CHECK(claim(result, "after stage 1", "value").note.find("acceptance 0.667 ") == 0);
}

TEST_CASE("three printed speedups of lenient sampling exceed what their alpha and c allow, one does not") {
  const ExperimentResult& result = all_claims();
  for (const char* lenience : {"sampled with lenience 1", "sampled with lenience 0.5", "sampled with lenience 0.3"}) {
    const ScorecardRow& row = claim(result, lenience, "value");
    CHECK(row.verdict == Verdict::finding);
    CHECK(row.ours_interval->high < row.published->rounding.low);
  }
  CHECK(claim(result, "sampled with lenience 0.1", "value").verdict == Verdict::pass);
}

TEST_CASE("the survey's ratios and head accuracies follow from its numbers") {
  const ExperimentResult result = tests::reproduced("survey");
  const auto note = [&](const char* row) { return claim(result, row, "value").note; };
  CHECK(note("batch 1; k=4").find("= 1.92x") != std::string::npos);
  CHECK(note("prompt 2048").find("= 1.45x") != std::string::npos);
  // The root of 1 + a + a^2 + a^3 = 2.63.
  CHECK(note("after stage-1").find("right 0.725 ") != std::string::npos);
  CHECK(note("throughput").find("5.51 ms a token") != std::string::npos);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
}

TEST_CASE("all twelve expected speedups of the T5 appendix follow from alpha, gamma and the profiled cost") {
  const ExperimentResult result = tests::reproduced("leviathan-table4");
  CHECK(result.rows.size() == 12 * 6);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 12);
  CHECK(tests::rows_with(result, Kind::predicted, Verdict::shown) == 12);
  // By hand: (1 - 0.75^8) / 0.25 / 1.14.
  CHECK(claim(result, "EnDe T5-small temperature=0", "expected_x").ours.value() ==
        Approx((1.0 - std::pow(0.75, 8)) / 0.25 / 1.14));
  // The measured column is Table 2 again, run by run.
  const PublishedTable measured = published_table("leviathan_table2");
  const PublishedTable table = published_table("leviathan_table4");
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (const char* column : {"task", "approx_model", "temperature", "gamma", "alpha"}) {
      CHECK(table.text(row, column) == measured.text(row, column));
    }
    CHECK(table.text(row, "measured_x") == measured.text(row, "speed_x"));
  }
}

}  // namespace foredraft::experiments
