// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/scorecard.hpp"

#include <catch2/catch.hpp>

namespace foredraft::experiments {
namespace {

ScorecardRow exact(double ours) {
  return scored({.experiment = "table",
                 .row = "row 1",
                 .column = "speed_x",
                 .published = parse_printed_number("2.44"),
                 .ours = ours,
                 .ours_interval = Interval{ours, ours},
                 .kind = Kind::exact});
}

}  // namespace

TEST_CASE("an exact row passes within the printed rounding and fails just outside") {
  CHECK(exact(2.4351).verdict == Verdict::pass);
  CHECK(exact(2.4449).verdict == Verdict::pass);
  CHECK(exact(2.4349).verdict == Verdict::fail);
  CHECK(exact(2.4451).verdict == Verdict::fail);
}

TEST_CASE("the summary counts results by verdict and inputs apart") {
  std::vector<ScorecardRow> rows{exact(2.44),
                                 exact(2.0),
                                 {.experiment = "table",
                                  .row = "row 1",
                                  .column = "alpha",
                                  .published = parse_printed_number("0.8"),
                                  .kind = Kind::input}};
  CHECK(summary_line(rows) == "2 results: 1 pass, 1 fail, 0 shown, 0 findings; 1 printed inputs not scored");
  rows[2].verdict = Verdict::finding;
  CHECK(summary_line(rows) == "3 results: 1 pass, 1 fail, 0 shown, 1 findings; 0 printed inputs not scored");
  CHECK(any_failed(rows));
  rows.erase(rows.begin() + 1);
  CHECK_FALSE(any_failed(rows));
}

TEST_CASE("scorecard.csv keeps the printed digits and leaves unknown values empty") {
  ScorecardRow lost = exact(2.5);
  lost.published = std::nullopt;
  lost.ours_interval = std::nullopt;
  lost.kind = Kind::out_of_reach;
  lost.verdict = Verdict::shown;
  lost.note = "lost, in the source";
  CHECK(to_csv({exact(2.44), lost}) ==
        "experiment,row,column,published,published_low,published_high,ours,ours_low,ours_high,kind,verdict,note\n"
        "table,row 1,speed_x,2.44,2.435,2.445,2.44,2.44,2.44,exact,pass,\n"
        "table,row 1,speed_x,,,,2.5,,,out_of_reach,shown,\"lost, in the source\"\n");
}

}  // namespace foredraft::experiments
