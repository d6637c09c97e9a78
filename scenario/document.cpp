// SPDX-License-Identifier: Apache-2.0
#include "scenario/document.hpp"

#include <array>

namespace foredraft::scenario {

std::string_view kind_of(const Node& node) {
  constexpr std::array<std::string_view, 6> kinds{"a truth value", "a whole number", "a number",
                                                  "a string",      "a list",         "a table"};
  if (const auto* unsupported = std::get_if<Unsupported>(&node.value)) return unsupported->kind;
  return kinds[node.value.index()];
}

}  // namespace foredraft::scenario
