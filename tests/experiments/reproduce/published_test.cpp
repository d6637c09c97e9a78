// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/published.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace foredraft::experiments {

TEST_CASE("a published table keeps its cells as printed") {
  const PublishedTable table = published_table("leviathan_table1");
  REQUIRE(table.size() == 6);
  CHECK(table.text(0, "operations_x") == "1.53");
  CHECK(table.text(5, "operations_x") == "1.60");
  CHECK(table.number(5, "speed_x").value == 6.86);
}

TEST_CASE("a cell that the source lost is empty, and a wrong name is an error") {
  const PublishedTable table = published_table("wagner_table2");
  REQUIRE(table.size() == 10);
  CHECK(table.text(4, "scale_alpha").empty());
  CHECK(table.text(4, "profiling_gain_percent") == "-10826.1");
  CHECK_THROWS_AS(table.text(0, "beta"), std::logic_error);
  CHECK_THROWS_AS(published_table("leviathan_table9"), std::logic_error);
}

}  // namespace foredraft::experiments
