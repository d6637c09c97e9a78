// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Texts as people read them: in lines that fit a terminal, and those from outside so that whoever wrote them moves no
/// cursor and fills no screen.
namespace foredraft {

/// The width of all text output.
inline constexpr std::size_t text_columns = 100;

/// Breaks longer lines at the last blank that fits, and indents what follows. A word that is longer stays whole, and so
/// do the first `indent` columns of a line.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t columns = text_columns);

/// Of one value that a message quotes; counted as they are shown.
inline constexpr std::size_t max_quoted_characters = 200;

/// `text` on one line, at most `most` characters of it, then an ellipsis. What shows nothing or moves something else
/// (control characters, blanks other than the usual one, marks that turn the direction of reading) becomes \x1b or
/// \u200b, and so does every byte that is no UTF-8. Twice is the same as once.
[[nodiscard]] std::string readable(std::string_view text, std::size_t most = max_quoted_characters);

/// A part of a message on one line: as above, but what is cut is each word in it, and what stands between its first and
/// its last double quote, and all of it only far beyond the length of any message of this program.
[[nodiscard]] std::string readable_part(std::string_view text);

/// A whole message: each of its lines as above, except that quotes mean nothing.
[[nodiscard]] std::string readable_message(std::string_view text);

}  // namespace foredraft
