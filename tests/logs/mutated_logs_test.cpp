// SPDX-License-Identifier: Apache-2.0
#include "tests/logs/mutated_logs.hpp"

#include <catch2/catch.hpp>

namespace foredraft::tests {

TEST_CASE("faults in a log only lead to its rejection") {
  LogMutator mutator(all_samples(), 20250301);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutator.next();
    INFO(text);
    REQUIRE_NOTHROW(read_mutated(text, 1 + mutator.below(text.size() + 1)));
  }
}

}  // namespace foredraft::tests
