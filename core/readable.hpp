// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Formats text for a terminal, and makes untrusted text safe to print: it cannot move the cursor or fill the screen.
namespace foredraft {

/// The width of all text output.
inline constexpr std::size_t text_columns = 100;

/// Breaks long lines at spaces and indents the continuation lines. Words longer than a line and the first `indent`
/// columns of a line are not broken.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t columns = text_columns);

/// Maximum length of a quoted value, in shown characters.
inline constexpr std::size_t max_quoted_characters = 200;

/// `text` on one line, cut to `maximum` characters with an ellipsis. Escapes control characters, whitespace other than
/// a space, marks of text direction and invalid UTF-8 (\x1b, \u200b). Idempotent.
[[nodiscard]] std::string readable(std::string_view text, std::size_t maximum = max_quoted_characters);

/// A part of a message on one line. Like readable(), but cuts each word and the text between the first and the last
/// double quote. The whole part is cut only at a length that no message of this program reaches.
[[nodiscard]] std::string readable_part(std::string_view text);

/// A whole message: each line like in readable_part(), but without special treatment of quotes.
[[nodiscard]] std::string readable_message(std::string_view text);

/// "3 s", "5 min", "2 h", "40 days", "3000 years".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace foredraft
