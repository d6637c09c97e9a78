// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <sstream>

#include "inputs/read_model.hpp"

namespace foredraft::inputs {

TEST_CASE("the table of models fits a terminal of 100 characters") {
  std::istringstream lines(to_text(model_table()));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
}

}  // namespace foredraft::inputs
