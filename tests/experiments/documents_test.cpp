// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "core/files.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"

namespace foredraft::experiments {

TEST_CASE("docs/metrics.md holds the tables of columns and parameters that the program prints") {
  const std::string page = read_file(FOREDRAFT_SOURCE "/docs/metrics.md");
  // Compared by find, not by REQUIRE on the strings: a page of text is no readable message.
  CHECK((page.find(scenario::metrics_markdown()) != std::string::npos));
  CHECK((page.find(scenario::parameters_markdown()) != std::string::npos));
}

}  // namespace foredraft::experiments
