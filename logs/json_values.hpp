// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

/// JSON values, and dictionaries as printed by Python, embedded in other text.
namespace foredraft::logs {

/// RE2 for the beginning of a line that may begin a value: `{`, or `[` at its end or before `{`, `[` or a quote.
inline constexpr std::string_view json_anchor = R"(^[ \t]*(?:\{|\[[ \t]*(?:\r?$|[\[{"'])))";

/// Whether a line is one that json_anchor matches.
[[nodiscard]] bool begins_value(std::string_view line);

/// Finds the end of a value incrementally. Stops at the first byte that cannot be part of a value, so that a brace in a
/// line of text costs no more than that line.
class JsonExtent {
 public:
  enum class Found { end, nothing_yet, no_value };

  /// `text` begins with the value; each call has the bytes of the previous one and more.
  [[nodiscard]] Found look(std::string_view text);

  /// Bytes of the value, including leading blanks, after look() found its end.
  [[nodiscard]] std::size_t size() const { return at_; }

 private:
  [[nodiscard]] bool outside_string(char c);
  [[nodiscard]] bool inside_string(char c);

  std::size_t at_ = 0;
  std::string open_ = {};  ///< open brackets
  char quote_ = 0;         ///< of the string that `at_` is in; 0: none
  bool escaped_ = false;
};

/// Whether a line begins with a member of an object, `"key": `: that of a document whose beginning was cut off.
[[nodiscard]] bool begins_member(std::string_view line);

/// A value whose end was cut off, closed behind its last complete member. An incomplete object of a list is left out:
/// it is a record. Nullopt if nothing complete is left.
[[nodiscard]] std::optional<std::string> completed(std::string_view cut);

/// The value of `text`; nullopt if it is invalid or exceeds a limit of core/documents.hpp. Accepts the single quotes,
/// True, False and None of Python, and reads NaN and Infinity as null.
[[nodiscard]] std::optional<nlohmann::ordered_json> parse_value(std::string_view text);

}  // namespace foredraft::logs
