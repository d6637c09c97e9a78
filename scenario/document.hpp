// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// A configuration as written: nested tables with the line of each key, whatever language it came from.
namespace foredraft::scenario {

struct Node;
struct Entry;
using Array = std::vector<Node>;
using Mapping = std::vector<Entry>;  ///< in the order of the file

/// A value the configuration language knows and we do not use (a date); `kind` names it.
struct Unsupported {
  std::string kind;
};

struct Node {
  std::int64_t line;  ///< 1-based; 0 where the source has no lines
  std::variant<bool, std::int64_t, double, std::string, Array, Mapping, Unsupported> value;
};

struct Entry {
  std::string key;
  Node node;
};

/// "a number", "a string", ...: for messages.
[[nodiscard]] std::string_view kind_of(const Node& node);

}  // namespace foredraft::scenario
