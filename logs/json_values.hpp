// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

/// JSON values, and dictionaries as Python prints them, between other text.
namespace foredraft::logs {

/// RE2 of the beginning of a line that may begin a value: `{`, or `[` at its end or before `{`, `[` or a quote.
inline constexpr std::string_view json_anchor = R"(^[ \t]*(?:\{|\[[ \t]*(?:\r?$|[\[{"'])))";

/// Whether a line is one that json_anchor matches.
[[nodiscard]] bool begins_value(std::string_view line);

/// Looks for the end of a value piece by piece. Gives up at the first byte that no value can hold there, so that a
/// brace in a line of text costs no more than that line.
class JsonExtent {
 public:
  enum class Found { end, nothing_yet, no_value };

  /// `text` begins with the value; each call has the bytes of the last one and further ones.
  [[nodiscard]] Found look(std::string_view text);

  /// Bytes of the value, blanks in front included, after look() found its end.
  [[nodiscard]] std::size_t size() const { return at_; }

 private:
  [[nodiscard]] bool outside_string(char c);
  [[nodiscard]] bool inside_string(char c);

  std::size_t at_ = 0;
  std::string open_ = {};  ///< brackets that were not closed yet
  char quote_ = 0;         ///< of the string that `at_` is in; 0: none
  bool escaped_ = false;
};

/// The value of `text`; nothing where it is none or breaks a limit of core/documents.hpp. Single quotes, True, False
/// and None are read as Python writes them, NaN and Infinity as null.
[[nodiscard]] std::optional<nlohmann::ordered_json> parse_value(std::string_view text);

}  // namespace foredraft::logs
