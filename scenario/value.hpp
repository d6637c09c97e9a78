// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "foredraft/value.hpp"

/// A value of a parameter, as configurations and command lines give it.
namespace foredraft::scenario {

enum class ValueType { real, integer, choice, text, reals, texts, schedule };

using foredraft::Schedule;
using foredraft::Value;

/// As a CSV cell or a label: numbers in shortest round-trip form, lists separated by blanks.
[[nodiscard]] std::string to_text(const Value& value);

inline constexpr double unbounded = std::numeric_limits<double>::max();

/// The legal numbers of a parameter, of each entry for lists.
struct ValueRange {
  double minimum = 0.0;
  double maximum = unbounded;
  bool excludes_minimum = false;
  bool excludes_maximum = false;
  bool whole = false;  ///< whole numbers only

  bool operator==(const ValueRange&) const = default;
};

inline constexpr ValueRange probability_range{.maximum = 1.0};
inline constexpr ValueRange flag_range{.maximum = 1.0, .whole = true};

/// NaN and infinities never are.
[[nodiscard]] bool contains(const ValueRange& range, double number);

/// "lie in [0, 1)", "be a whole number in [1, 1024]", "be finite and above 0": what a number must do.
[[nodiscard]] std::string range_reason(const ValueRange& range);

/// The first number outside the range: "key=2", or "key[1]=2" of a list; empty if all lie inside, and for texts.
[[nodiscard]] std::string first_outside(std::string_view key, const ValueRange& range, const Value& value);

/// Throws DomainError "invalid key=number (must ...)" for a number, or one of a list, outside the range.
void check_numbers(std::string_view key, const ValueRange& range, const Value& value);

// ---- A configuration as written: nested tables with the line of each key, whatever language it came from.

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

/// A whole number, written as one or as a number such as 1e6; else nothing.
[[nodiscard]] std::optional<std::int64_t> whole_number(const Node& node);

/// "a number", "a string", ...: for messages.
[[nodiscard]] std::string_view kind_of(const Node& node);

[[nodiscard]] nlohmann::ordered_json to_json(const Value& value);

}  // namespace foredraft::scenario
