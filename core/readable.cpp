// SPDX-License-Identifier: Apache-2.0
#include "core/readable.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdint>

namespace foredraft {
namespace {

constexpr std::string_view ellipsis = "\u2026";
/// Additional characters before a word is cut, for quotes, an ellipsis and a line number around a cut value.
constexpr std::size_t word_slack = 40;
/// Maximum length of a line. Our longest message lists the 70 parameters of a sweep.
constexpr std::size_t max_line_characters = 4000;

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;
  bool sound;  ///< false: an invalid UTF-8 byte
};

/// The first code point of a nonempty text: a shortest-form UTF-8 sequence, no surrogate.
CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80U) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  const CodePoint broken{first, 1, false};
  if (first < 0xC2U || first > 0xF4U || text.size() < bytes) return broken;
  std::uint32_t value = first & (0x7FU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return broken;
    value = value << 6U | (byte(at) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800U && value <= 0xDFFFU;
  if (value < least.at(bytes) || value > 0x10FFFFU || surrogate) return broken;
  return {value, bytes, true};
}

/// True if a terminal displays the code point as a separate character.
bool shows(std::uint32_t value) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 12> hidden{{{0x00, 0x1F},
                                          {0x7F, 0xA0},
                                          {0xAD, 0xAD},
                                          {0x61C, 0x61C},
                                          {0x2000, 0x200F},
                                          {0x2028, 0x202F},
                                          {0x205F, 0x206F},
                                          {0x3000, 0x3000},
                                          {0xFE00, 0xFE0F},
                                          {0xFEFF, 0xFEFF},
                                          {0xFFF9, 0xFFFB},
                                          {0xE0000, 0xE0FFF}}};
  return std::none_of(hidden.begin(), hidden.end(),
                      [value](const Range& range) { return range.first <= value && value <= range.last; });
}

/// Escape sequence of a code point that a terminal does not display; empty for others.
std::string escape_of(const CodePoint& point) {
  if (point.sound && shows(point.value)) return {};
  return point.sound && point.value >= 0x80U ? fmt::format("\\u{:04x}", point.value)
                                             : fmt::format("\\x{:02x}", point.value);
}

/// Number of shown characters of a text, counted up to `maximum` + 1.
std::size_t characters_shown(std::string_view text, std::size_t maximum) {
  std::size_t characters = 0;
  while (!text.empty() && characters <= maximum) {
    const CodePoint point = first_of(text);
    characters += std::max<std::size_t>(1, escape_of(point).size());
    text.remove_prefix(point.bytes);
  }
  return characters;
}

/// One line with overlong words cut.
std::string readable_line(std::string_view line) {
  std::string text;
  std::size_t characters = 0;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    const std::size_t length = characters_shown(word, max_quoted_characters + word_slack);
    characters += std::min(length, max_quoted_characters) + 1;
    if (characters > max_line_characters) return text.append(ellipsis);
    text += length > max_quoted_characters + word_slack ? readable(word) : readable(word, length);
    const std::size_t next = std::min(end + 1, line.size());
    if (next > end) text += ' ';
    line.remove_prefix(next);
  }
  return text;
}

}  // namespace

std::string readable(std::string_view text, std::size_t maximum) {
  std::string shown;
  std::size_t characters = 0;
  while (!text.empty()) {
    const CodePoint point = first_of(text);
    const std::string escape = escape_of(point);
    characters += std::max<std::size_t>(1, escape.size());
    if (characters > maximum) return shown.append(ellipsis);
    shown += escape.empty() ? text.substr(0, point.bytes) : escape;
    text.remove_prefix(point.bytes);
  }
  return shown;
}

std::string readable_part(std::string_view text) {
  const std::size_t first = text.find('"');
  const std::size_t last = text.rfind('"');
  if (first == std::string_view::npos || last - first <= max_quoted_characters) return readable_line(text);
  return readable_line(text.substr(0, first + 1)) + readable(text.substr(first + 1, last - first - 1)) +
         readable_line(text.substr(last));
}

std::string readable_message(std::string_view text) {
  std::string message;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    message += readable_line(text.substr(0, end));
    if (end == text.size()) return message;
    message += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    while (line.size() > columns) {
      const std::size_t blank = line.rfind(' ', columns);
      if (blank == std::string::npos || blank < indent || line.find_first_not_of(' ') > blank) break;
      result += line.substr(0, blank) + "\n";
      line = std::string(indent, ' ') + line.substr(blank + 1);
    }
    result += line;
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string duration_text(double seconds) {
  constexpr double minute = 60.0;
  constexpr double hour = 3600.0;
  constexpr double day = 86400.0;
  constexpr double year = 365.25 * day;
  const auto rounded = [](double value) {
    return value < 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
  };
  if (seconds < 1.0) return "1 s";
  if (seconds < 2 * minute) return rounded(seconds) + " s";
  if (seconds < 2 * hour) return rounded(seconds / minute) + " min";
  if (seconds < 2 * day) return rounded(seconds / hour) + " h";
  if (seconds < 2 * year) return rounded(seconds / day) + " days";
  return rounded(seconds / year) + " years";
}

}  // namespace foredraft
