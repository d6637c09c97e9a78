// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/problems.hpp"

/// Untrusted documents: limits that are checked before parsing, and integers without overflow.
namespace foredraft {

/// Maximum nesting depth of tables and lists. Parsers, writers and destructors recurse once per level; without a limit
/// a few kB overflow the stack. Our own documents have at most 8 levels.
inline constexpr std::size_t max_nesting = 64;
/// Maximum size of TOML files. Configurations and model files have a few kB; 4 MiB parse within seconds.
inline constexpr std::size_t max_toml_bytes = std::size_t{4} << 20U;
/// Maximum size of JSON files. The profile of a long run has a few MB; a parsed document takes about 20 times its size
/// in memory.
inline constexpr std::size_t max_json_bytes = std::size_t{64} << 20U;
/// Maximum number of keys of an object; parse time is quadratic in it. Our own objects have at most about 100.
inline constexpr std::size_t max_json_keys = 256;
/// Maximum size of a line: one row of a table or one sequence of a trace.
inline constexpr std::size_t max_line_bytes = std::size_t{1} << 20U;

/// Adds a problem and returns false if a TOML text is larger than max_toml_bytes or nested deeper than max_nesting.
/// Dotted keys, table headers and brackets add up to the depth of a value.
[[nodiscard]] bool check_toml_limits(std::string_view text, ProblemList& problems);

/// Adds a problem and returns false if a line of `text` is longer than max_line_bytes.
[[nodiscard]] bool check_line_limits(std::string_view text, ProblemList& problems);

/// Parses a JSON document. Returns a discarded value and adds a problem (lines count from `first_line`) if `text`
/// exceeds max_json_bytes, max_nesting or `max_keys` or is not valid JSON. The last of duplicate keys is used.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text, ProblemList& problems,
                                                std::int64_t first_line = 1, std::size_t max_keys = max_json_keys);

/// The same for objects with any number of keys, in O(n log n). Keys are sorted alphabetically.
[[nodiscard]] nlohmann::ordered_json parse_large_json(std::string_view text, ProblemList& problems);

/// The message of an exception of the JSON library without its prefix of name and number.
[[nodiscard]] std::string json_reason(std::string_view what);

/// The value of a JSON integer in [minimum, maximum]; nullopt for any other JSON value, including 2.0 and 1e3. Number:
/// std::int32_t, std::int64_t or std::uint64_t.
template <typename Number>
[[nodiscard]] std::optional<Number> whole_number(const nlohmann::ordered_json& json,
                                                 Number minimum = std::numeric_limits<Number>::min(),
                                                 Number maximum = std::numeric_limits<Number>::max());

}  // namespace foredraft
