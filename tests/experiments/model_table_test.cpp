// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "core/files.hpp"
#include "experiments/models/model_table.hpp"

namespace foredraft::experiments {

TEST_CASE("docs/models.md holds the table of models that the program prints") {
  const std::string page = read_file(FOREDRAFT_SOURCE "/docs/models.md");
  // Compared by find, not by REQUIRE on the strings: a page of text is no readable message.
  CHECK((page.find(to_markdown(model_table())) != std::string::npos));
}

}  // namespace foredraft::experiments
