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

inline constexpr double us_per_ms = 1e3;

enum class ValueType { real, integer, choice, text, reals, texts, schedule };

using foredraft::Schedule;
using foredraft::Value;

/// Text of a CSV cell or a label: numbers in shortest round-trip form, list entries separated by spaces.
[[nodiscard]] std::string to_text(const Value& value);

inline constexpr double unbounded = std::numeric_limits<double>::max();

/// The valid numbers of a parameter; for a list, of each entry.
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

/// False for NaN and infinities.
[[nodiscard]] bool contains(const ValueRange& range, double number);

/// The text after "must": "lie in [0, 1)", "be a whole number in [1, 1024]", "be finite and above 0".
[[nodiscard]] std::string range_reason(const ValueRange& range);

/// The first number outside the range: "key=2", or "key[1]=2" in a list. Empty if all lie inside, and for texts.
[[nodiscard]] std::string first_outside(std::string_view key, const ValueRange& range, const Value& value);

/// Throws DomainError "invalid key=number (must ...)" if a number is outside the range.
void check_numbers(std::string_view key, const ValueRange& range, const Value& value);

// ---- A parsed configuration: nested tables with the line of each key, independent of the file format.

struct Node;
struct Entry;
using Array = std::vector<Node>;
using Mapping = std::vector<Entry>;  ///< in file order

/// A type that the file format has and parameters do not, such as a date; `kind` names it.
struct Unsupported {
  std::string kind;
};

struct Node {
  std::int64_t line;  ///< 1-based; 0 if the source has no lines
  std::variant<bool, std::int64_t, double, std::string, Array, Mapping, Unsupported> value;
};

struct Entry {
  std::string key;
  Node node;
};

/// The value if it is a number.
[[nodiscard]] std::optional<double> number_of(const Node& node);

/// The value if it is a whole number, also when written as a float such as 1e6; else nullopt.
[[nodiscard]] std::optional<std::int64_t> whole_number(const Node& node);

/// The type in messages: "a number", "a string", ...
[[nodiscard]] std::string_view kind_of(const Node& node);

[[nodiscard]] nlohmann::ordered_json to_json(const Value& value);

}  // namespace foredraft::scenario
