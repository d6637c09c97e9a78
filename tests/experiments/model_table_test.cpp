// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <sstream>

#include "core/files.hpp"
#include "experiments/models/read_model.hpp"

namespace foredraft::experiments {

TEST_CASE("docs/models.md holds the table of models that the program prints, and that of their sources") {
  const std::string page = read_file(FOREDRAFT_SOURCE "/docs/models.md");
  // Compared by find, not by REQUIRE on the strings: a page of text is no readable message.
  CHECK((page.find(to_markdown(model_table())) != std::string::npos));
  CHECK((page.find(to_markdown(model_source_table())) != std::string::npos));
}

TEST_CASE("the table of models fits a terminal of 100 characters") {
  std::istringstream lines(to_text(model_table()));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
}

}  // namespace foredraft::experiments
