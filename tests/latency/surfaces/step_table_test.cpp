// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/step_table.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

/// Flat, then rising, with a drop of 10 % as from a change of tile size.
std::vector<StepTable::Row> rows_with_knee() {
  std::vector<StepTable::Row> rows;
  for (const std::int64_t context : {128, 1024}) {
    for (const std::int64_t batch : {1, 8, 64}) {
      for (const std::int64_t tokens : {1, 4, 8, 32}) {
        const auto m = static_cast<double>(batch * tokens);
        const double tiles = tokens == 8 ? 0.9 : 1.0;
        rows.push_back({{batch, tokens, context},
                        tiles * (100.0 + m) + 0.05 * static_cast<double>(batch * context),
                        0.01 * static_cast<double>(tokens)});
      }
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("every measured point is answered exactly, with its own spread") {
  const StepTable table(rows_with_knee());
  for (const StepTable::Row& row : rows_with_knee()) {
    const auto found = table.at(row.point);
    REQUIRE(found);
    CHECK(found->measured);
    CHECK(found->time_us == Approx(row.time_us).epsilon(foredraft::tests::few_ulp));
    CHECK(found->spread == row.spread);
  }
}

TEST_CASE("between two points a time lies between theirs and is monotonic") {
  const StepTable table(rows_with_knee());
  const auto check_between = [&](const ForwardPassPoint& from, const ForwardPassPoint& to, auto&& at) {
    const double start = table.at(from)->time_us;
    const double end = table.at(to)->time_us;
    double before = start;
    for (int i = 1; i < 20; ++i) {
      const auto found = table.at(at(i));
      REQUIRE(found);
      CHECK((found->time_us - before) * (end - start) >= 0.0);
      CHECK(std::abs(found->time_us - start) <= std::abs(end - start));
      before = found->time_us;
    }
  };
  check_between({8, 8, 128}, {8, 32, 128}, [](int i) { return ForwardPassPoint{8, 8 + i, 128}; });
  check_between({8, 32, 128}, {64, 32, 128}, [](int i) { return ForwardPassPoint{8 + 2 * i, 32, 128}; });
  check_between({8, 32, 128}, {8, 32, 1024}, [](int i) { return ForwardPassPoint{8, 32, 128 + 40 * i}; });
  check_between({8, 4, 128}, {8, 8, 128}, [](int i) { return ForwardPassPoint{8, 4 + std::min(i, 4), 128}; });
}

TEST_CASE("log time is straight over log counts, time over context") {
  const StepTable table(rows_with_knee());
  const double low = table.at({1, 8, 128})->time_us;
  const double high = table.at({1, 32, 128})->time_us;
  CHECK(table.at({1, 16, 128})->time_us == Approx(std::sqrt(low * high)).epsilon(foredraft::tests::few_ulp));
  CHECK_FALSE(table.at({1, 16, 128})->measured);
  const double near = table.at({64, 4, 128})->time_us;
  const double far = table.at({64, 4, 1024})->time_us;
  CHECK(table.at({64, 4, 576})->time_us == Approx(0.5 * (near + far)).epsilon(foredraft::tests::few_ulp));
  // A table that is a power law in the batch is interpolated as a power law.
  std::vector<StepTable::Row> power;
  for (const std::int64_t batch : {1, 4, 64}) {
    for (const std::int64_t tokens : {1, 16}) {
      power.push_back({{batch, tokens, 0}, 3.0 * std::pow(static_cast<double>(batch * tokens), 0.7), 0.0});
    }
  }
  CHECK(StepTable(power).at({30, 5, 0})->time_us ==
        Approx(3.0 * std::pow(150.0, 0.7)).epsilon(foredraft::tests::second_route));
}

TEST_CASE("nothing is answered outside of the measured range") {
  const StepTable table(rows_with_knee());
  for (const ForwardPassPoint& outside :
       {ForwardPassPoint{1, 33, 128}, ForwardPassPoint{65, 1, 128}, ForwardPassPoint{1, 1, 127},
        ForwardPassPoint{1, 1, 1025}, ForwardPassPoint{64, 64, 1024}}) {
    CHECK_FALSE(table.at(outside));
  }
}

TEST_CASE("a curve that does not reach the requested tokens is skipped") {
  std::vector<StepTable::Row> rows;
  for (const std::int64_t batch : {1, 16}) {
    for (const std::int64_t tokens : {1, 8}) rows.push_back({{batch, tokens, 0}, static_cast<double>(batch), 0.0});
  }
  rows.push_back({{4, 1, 0}, 12.0, 0.0});
  rows.push_back({{1, 1, 1000}, 2.0, 0.0});
  const StepTable table(rows);
  CHECK(table.at({4, 1, 0})->time_us == Approx(12.0).epsilon(foredraft::tests::few_ulp));
  CHECK(table.at({4, 2, 0})->time_us == Approx(4.0).epsilon(foredraft::tests::few_ulp));  // between batches 1 and 16
  CHECK(table.at({1, 1, 500})->time_us == Approx(1.5).epsilon(foredraft::tests::few_ulp));
  CHECK_FALSE(table.at({1, 8, 500}));  // context 1,000 has no 8 tokens
}

TEST_CASE("an interpolated time is as uncertain as its neighbors and as leaving out a point") {
  // A power law is interpolated without an error: only the neighbors' spread remains.
  std::vector<StepTable::Row> rows;
  for (const std::int64_t tokens : {1, 2, 4, 8}) {
    rows.push_back({{1, tokens, 0}, static_cast<double>(tokens), tokens == 8 ? 0.03 : 0.01});
  }
  CHECK(StepTable(rows).at({1, 6, 0})->spread ==
        Approx(0.01 + 0.02 * std::log(1.5) / std::log(2.0)).epsilon(foredraft::tests::second_route));
  // One point 20 % above: leaving out it or a neighbor gives the error.
  rows[2].time_us *= 1.2;
  CHECK(StepTable(rows).at({1, 6, 0})->spread > 0.09);
  CHECK(StepTable(rows).at({1, 4, 0})->spread == 0.01);
}

TEST_CASE("times that fall with more work are rejected, beyond the effect of tile sizes") {
  const auto rejected = [](const ForwardPassPoint& point, double factor, double spread = 0.01) {
    std::vector<StepTable::Row> rows = rows_with_knee();
    for (StepTable::Row& row : rows) {
      if (row.point.batch == point.batch && row.point.tokens == point.tokens && row.point.context == point.context) {
        row.time_us *= factor;
        row.spread = spread;
      }
    }
    return rejection<DomainError>([&] { StepTable(rows).reject_decrease("model-a decoder_pass fp16"); });
  };
  CHECK(rejected({1, 8, 128}, 0.9) == "");
  CHECK(rejected({1, 4, 128}, 0.7) ==
        "model-a decoder_pass fp16: 107.4 us for batch 1 context 128 tokens 1 and 77.28 us for 4");
  CHECK(rejected({8, 1, 128}, 0.45).find("us for tokens 1 context 128 batch 1 and") != std::string::npos);
  CHECK(rejected({1, 4, 128}, 0.7, 0.1) == "");
  CHECK(rejected({1, 4, 128}, 0.6, 0.1) != "");
}

}  // namespace foredraft::latency
