// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "core/files.hpp"
#include "experiments/config/metrics.hpp"
#include "experiments/config/parameters.hpp"

namespace foredraft::experiments {

TEST_CASE("docs/metrics.md holds the tables of columns and parameters that the program prints") {
  const std::string page = read_file(FOREDRAFT_SOURCE "/docs/metrics.md");
  // Compared by find, not by REQUIRE on the strings: a page of text is no readable message.
  CHECK((page.find(metrics_markdown()) != std::string::npos));
  CHECK((page.find(parameters_markdown()) != std::string::npos));
}

}  // namespace foredraft::experiments
