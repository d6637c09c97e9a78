// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text as people read it: in lines that fit a terminal. Text from outside is made safe to print: it cannot move the
/// cursor or fill the screen.
namespace foredraft {

/// The width of all text output.
inline constexpr std::size_t text_columns = 100;

/// Breaks longer lines at the last blank that fits, and indents what follows. A word that is longer stays whole, and so
/// do the first `indent` columns of a line.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t columns = text_columns);

/// Maximum length of a quoted value, in shown characters.
inline constexpr std::size_t max_quoted_characters = 200;

/// `text` on one line, at most `maximum` characters of it, then an ellipsis. Control characters, blanks other than the
/// space, marks that change the direction of reading and bytes that are not UTF-8 are escaped (\x1b, \u200b).
/// Idempotent.
[[nodiscard]] std::string readable(std::string_view text, std::size_t maximum = max_quoted_characters);

/// A part of a message on one line. As readable(), but cuts each word and the text between the first and the last
/// double quote, and the whole part only far beyond the length of any message of this program.
[[nodiscard]] std::string readable_part(std::string_view text);

/// A whole message: each line as in readable_part(), but quotes have no meaning.
[[nodiscard]] std::string readable_message(std::string_view text);

/// "3 s", "5 min", "2 h", "40 days", "3000 years".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace foredraft
