// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>
#include <string_view>

#include "logs/log_format.hpp"

namespace foredraft::tests {

TEST_CASE("every format has a unique name and a summary of one line") {
  std::set<std::string_view> names;
  for (const logs::LogFormat& format : logs::formats()) {
    CHECK(names.insert(format.name).second);
    CHECK(format.name.find(' ') == std::string_view::npos);
    CHECK(format.name.size() + format.summary.size() < 96);
  }
}

TEST_CASE("every format states what is read of it") {
  const std::set<std::string_view> extents{"yes", "(yes)", "no", "-", "1", "any"};
  for (const logs::LogFormat& format : logs::formats()) {
    CAPTURE(format.name);
    for (const std::string_view extent :
         {format.gives.gamma, format.gives.length, format.gives.positions, format.gives.batch}) {
      CHECK(extents.contains(extent));
    }
    CHECK_FALSE(format.gives.times.empty());
  }
}

}  // namespace foredraft::tests
