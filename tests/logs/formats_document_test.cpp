// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>

#include "logs/log_format.hpp"

namespace foredraft::tests {

TEST_CASE("docs/logs.md has one line for each format, with its summary") {
  std::ifstream file(FOREDRAFT_SOURCE "/docs/logs.md");
  REQUIRE(file);
  std::set<std::string> described;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) described.insert(line.substr(0, line.find('|', line.find('|', 1) + 1) + 1));
  }
  std::set<std::string> known;
  for (const logs::LogFormat& format : logs::formats()) {
    known.insert("| `" + std::string(format.name) + "` | " + std::string(format.summary) + " |");
  }
  CHECK(described == known);
}

TEST_CASE("every format has a name of its own and a summary that fits a line") {
  std::set<std::string_view> names;
  for (const logs::LogFormat& format : logs::formats()) {
    CHECK(names.insert(format.name).second);
    CHECK(format.name.find(' ') == std::string_view::npos);
    CHECK(format.name.size() + format.summary.size() < 96);
  }
}

}  // namespace foredraft::tests
