// SPDX-License-Identifier: Apache-2.0
#include "answers/overlap.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::answers {

TEST_CASE("overlapped schedules are compared with sequential drafting and verification, on two devices and on one") {
  const std::vector<OverlapRow> rows = overlap_rows(0.8, 5, 0.1);
  REQUIRE(rows.size() == 5);
  for (const OverlapRow& row : rows) {
    CAPTURE(static_cast<int>(row.drafting.schedule), row.drafting.shared);
    CHECK(row.drafting.gamma == 5);
    CHECK(std::abs(row.simulated.value().mean - row.speedup) <= tests::standard_errors * row.simulated->standard_error);
    CHECK(row.best_speedup >= row.speedup);
    CHECK(row.target_servers.has_value() == (row.drafting.schedule == Overlap::dsi && !row.drafting.shared));
  }
  CHECK(rows[0].best_gamma == 6);   // as in predict
  CHECK(rows[1].best_gamma == 10);  // 1 / c: neither model waits
  CHECK(rows[3].target_servers == 3.0);
  CHECK(rows[4].speedup == rows[0].speedup);

  const auto json = to_json(rows);
  CHECK(json[1]["schedule"] == "pearl");
  CHECK(json[2]["shared_device"] == true);
  CHECK(json[3]["target_servers"] == 3.0);
  CHECK(json[4]["target_servers"].is_null());
  CHECK(json[0]["simulated_speedup"]["ci95"].size() == 2);
}

TEST_CASE("without a rejection there is nothing to simulate, and values out of range are rejected") {
  const std::vector<OverlapRow> rows = overlap_rows(1.0, 3, 0.0);
  CHECK_FALSE(rows.front().simulated.has_value());
  CHECK(to_json(rows)[3]["speedup"].is_null());
  CHECK(to_json(rows)[3]["simulated_speedup"].is_null());
  CHECK_THROWS_AS(overlap_rows(0.5, 0, 0.1), DomainError);
  CHECK_THROWS_AS(overlap_rows(0.5, 3, 1.5), DomainError);
}

}  // namespace foredraft::answers
