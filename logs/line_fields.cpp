// SPDX-License-Identifier: Apache-2.0
#include "logs/line_fields.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>
#include <utility>

#include "core/numbers.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {

void append_code_point(unsigned code, std::string& text) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string_view TextEncoding::utf8(std::string_view bytes, std::string& decoded) {
  if (kind_ == Kind::bytes) return bytes;
  pending_ += bytes;
  if (kind_ == Kind::unknown) {
    if (pending_.size() < 2) return {};
    kind_ = pending_.starts_with("\xFF\xFE")   ? Kind::little_endian
            : pending_.starts_with("\xFE\xFF") ? Kind::big_endian
                                               : Kind::bytes;
    if (kind_ == Kind::bytes) return decoded = std::exchange(pending_, {});
    pending_.erase(0, 2);
  }
  std::size_t at = 0;
  for (; at + 2 <= pending_.size(); at += 2) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(pending_[i])); };
    const unsigned unit = kind_ == Kind::little_endian ? byte(at) + 256 * byte(at + 1) : 256 * byte(at) + byte(at + 1);
    const bool second = unit >= 0xDC00 && unit < 0xE000;
    if (unit >= 0xD800 && unit < 0xDC00) {
      high_ = unit;
    } else if (second) {
      append_code_point(high_ == 0 ? '?' : 0x10000 + ((high_ - 0xD800) << 10U) + (unit - 0xDC00), decoded);
      high_ = 0;
    } else {
      append_code_point(unit, decoded);
      high_ = 0;
    }
  }
  pending_.erase(0, at);
  return decoded;
}

void EscapeFilter::append(std::string_view bytes, std::string& text) {
  while (!bytes.empty()) {
    if (state_ == State::text) {
      const std::size_t escape = std::min(bytes.find('\x1b'), bytes.size());
      append_text(bytes.substr(0, escape), text);
      if (escape == bytes.size()) return;
      state_ = State::escape;
      bytes.remove_prefix(escape + 1);
    } else {
      if (bytes.front() == '\n') {  // ends a truncated sequence
        state_ = State::text;
        continue;
      }
      skip(bytes.front());
      bytes.remove_prefix(1);
    }
  }
}

namespace {

/// A blank other than the space, in UTF-8, or the end of a line of Windows.
struct OddBlank {
  std::string_view bytes;
  std::string_view plain;
  bool groups_digits;  ///< between digits it separates thousands
};
constexpr std::array<OddBlank, 6> odd_blanks{{{"\r\n", "\n", false},
                                              {"\xC2\xA0", " ", false},       // no-break space
                                              {"\xE2\x80\x87", " ", false},   // figure space
                                              {"\xE2\x80\x89", " ", true},    // thin space
                                              {"\xE2\x80\x8B", "", false},    // zero width space
                                              {"\xE2\x80\xAF", " ", true}}};  // narrow no-break space

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void EscapeFilter::append_text(std::string_view bytes, std::string& text) {
  const std::string joined = held_.empty() ? std::string{} : std::exchange(held_, {}).append(bytes);
  if (!joined.empty()) bytes = joined;
  const auto may_be_blank = [](std::string_view end) {
    return !end.empty() && std::ranges::any_of(odd_blanks, [&](const OddBlank& blank) {
      return blank.bytes.starts_with(end) && (end.size() < blank.bytes.size() || blank.groups_digits);
    });
  };
  for (const std::size_t size : {3U, 2U, 1U}) {
    if (bytes.size() < size || !may_be_blank(bytes.substr(bytes.size() - size))) continue;
    held_ = bytes.substr(bytes.size() - size);
    bytes.remove_suffix(size);
    break;
  }
  if (bytes.find("\xC2\xA0") == bytes.npos && bytes.find("\xE2\x80") == bytes.npos &&
      bytes.find("\r\n") == bytes.npos) {
    text += bytes;  // nearly all
    if (!bytes.empty()) last_ = bytes.back();
    return;
  }
  while (!bytes.empty()) {
    const auto* const blank =
        std::ranges::find_if(odd_blanks, [&](const OddBlank& one) { return bytes.starts_with(one.bytes); });
    std::string_view plain = bytes.substr(0, 1);
    if (blank == odd_blanks.end()) {
      bytes.remove_prefix(1);
    } else {
      bytes.remove_prefix(blank->bytes.size());
      const bool groups = blank->groups_digits && is_digit(last_) && !bytes.empty() && is_digit(bytes.front());
      plain = groups ? "" : blank->plain;
    }
    text += plain;
    if (!plain.empty()) last_ = plain.back();
  }
}

void EscapeFilter::skip(char c) {
  if (state_ == State::escape && (c == '[' || c == ']')) {
    state_ = c == '[' ? State::parameters : State::title;
  } else if (state_ == State::escape || (state_ == State::parameters && c >= '@' && c <= '~') ||
             (state_ == State::title && (c == '\a' || c == '\\'))) {
    state_ = State::text;
  }
}

std::string_view shown(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find('\r') == std::string_view::npos) return line;  // fast, and nearly all lines
  const std::size_t last_return = line.rfind('\r');
  return line.substr(last_return + 1);
}

namespace {

bool continues_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#';
}

/// Text after the first `label` that is not inside a word.
std::optional<std::string_view> after(std::string_view text, std::string_view label) {
  for (std::size_t at = text.find(label); at != std::string_view::npos; at = text.find(label, at + 1)) {
    if (at == 0 || !continues_word(text[at - 1])) return text.substr(at + label.size());
  }
  return std::nullopt;
}

/// Whether `text` goes on with a comma and exactly three digits, as after the 1 of 1,355.35.
bool thousands_follow(std::string_view text) {
  return text.size() >= 4 && text[0] == ',' && std::all_of(text.begin() + 1, text.begin() + 4, is_digit) &&
         (text.size() == 4 || !is_digit(text[4]));
}

/// The number at the beginning of `text` if it has only digits and at most one point, as nearly all have: rounded
/// correctly, since it is the quotient of two exact numbers. Leaves the rest in `text`.
std::optional<double> take_short_number(std::string_view& text) {
  constexpr std::size_t exact_digits = 15;
  constexpr std::array<double, exact_digits + 1> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  std::int64_t digits = 0;
  std::size_t size = 0;
  std::size_t point = std::string_view::npos;
  for (; size < text.size() && size <= exact_digits; ++size) {
    const char c = text[size];
    if (is_digit(c)) {
      digits = 10 * digits + (c - '0');
    } else if (c == '.' && size > 0 && point == std::string_view::npos) {
      point = size;
    } else {
      break;
    }
  }
  const std::size_t decimals = point == std::string_view::npos ? 0 : size - point - 1;
  const char next = size < text.size() ? text[size] : ' ';
  const bool other = next == '.' || next == 'e' || next == 'E' || is_digit(next) || thousands_follow(text.substr(size));
  if (size == 0 || (decimals == 0 && point != std::string_view::npos) || other) return std::nullopt;
  text.remove_prefix(size);
  return static_cast<double>(digits) / powers.at(decimals);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::string in_lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

std::optional<double> take_number(std::string_view& text) {
  std::string_view rest = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  if (const auto number = take_short_number(rest)) {
    text = rest;
    return number;
  }
  if (rest.starts_with("nan")) {
    text = rest.substr(3);
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::array<char, 64> digits{};
  std::size_t size = 0;
  for (; !rest.empty() && size < digits.size(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (c == ',' && size > 0 && thousands_follow(rest)) continue;
    const bool exponent = size > 0 && (c == 'e' || c == 'E');
    const bool sign = (c == '-' || c == '+') && (size == 0 || digits.at(size - 1) == 'e');
    if (!is_digit(c) && c != '.' && !exponent && !sign) break;
    digits.at(size++) = exponent ? 'e' : c;
  }
  // An incomplete exponent or the full stop of a sentence belongs to the text.
  double number = 0.0;
  const char* const begin = digits.data() + (size > 0 && digits[0] == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, digits.data() + size, number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  const auto unread = static_cast<std::size_t>(digits.data() + size - end);
  text = std::string_view(rest.data() - unread, rest.size() + unread);
  return number;
}

std::optional<std::int64_t> whole(std::optional<double> number) {
  const std::optional<std::int64_t> integer = foredraft::whole(number);
  return integer && *integer >= 0 ? integer : std::nullopt;
}

std::optional<double> number_after(std::string_view text, std::string_view label, std::string_view unit) {
  std::optional<std::string_view> rest = after(text, label);
  if (!rest) return std::nullopt;
  const std::optional<double> number = take_number(*rest);
  return number && rest->starts_with(unit) ? number : std::nullopt;
}

std::optional<std::int64_t> count_after(std::string_view text, std::string_view label, std::string_view unit) {
  return whole(number_after(text, label, unit));
}

std::optional<std::string_view> text_after(std::string_view text, std::string_view label, std::string_view end) {
  const std::optional<std::string_view> rest = after(text, label);
  if (!rest) return std::nullopt;
  const std::size_t size = rest->find(end);
  if (size == std::string_view::npos) return std::nullopt;
  return rest->substr(0, size);
}

std::vector<double> take_numbers(std::string_view text) {
  std::vector<double> numbers;
  while (const std::optional<double> number = take_number(text)) {
    numbers.push_back(*number);
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return numbers;
}

std::vector<double> numbers_in(std::string_view text, std::string_view pattern) {
  if (pattern.starts_with('#')) {
    const std::string_view words = trimmed(pattern.substr(1, pattern.find('#', 1) - 1));
    const std::string_view before = text.substr(0, std::min(text.find(words), text.size()));
    const std::size_t end = trimmed(before).empty() ? 0 : before.find_last_not_of(" \t") + 1;
    const std::size_t begin = before.substr(0, end).find_last_not_of("0123456789.");
    text.remove_prefix(begin == before.npos ? 0 : begin + 1);
  }
  std::size_t end = std::min(pattern.find('#'), pattern.size());
  std::optional<std::string_view> rest = after(text, trimmed(pattern.substr(0, end)));
  std::vector<double> numbers;
  while (rest && end < pattern.size()) {
    const std::optional<double> number = take_number(*rest);
    if (!number) return {};
    numbers.push_back(*number);
    pattern.remove_prefix(end + 1);
    end = std::min(pattern.find('#'), pattern.size());
    const std::string_view words = trimmed(pattern.substr(0, end));
    *rest = rest->substr(std::min(rest->find_first_not_of(" \t"), rest->size()));
    const std::size_t gap = words.find('*');
    if (!rest->starts_with(words.substr(0, gap))) return {};
    if (gap != words.npos) {
      rest = after(*rest, words.substr(gap + 1));
    } else {
      rest->remove_prefix(words.size());
    }
  }
  return rest ? numbers : std::vector<double>{};
}

std::optional<std::int64_t> clock_in(std::string_view text) {
  const auto two = [&](std::size_t at) { return 10 * (text[at] - '0') + (text[at + 1] - '0'); };
  const auto digits = [&](std::size_t at) { return is_digit(text[at]) && is_digit(text[at + 1]); };
  for (std::size_t colon = text.find(':', 2); colon < text.size(); colon = text.find(':', colon + 1)) {
    const std::size_t at = colon - 2;
    if (at + 8 > text.size()) break;
    if (text[at + 5] != ':' || !digits(at) || !digits(at + 3) || !digits(at + 6)) continue;
    if (two(at) < 24 && two(at + 3) < 60 && two(at + 6) <= 60)  // also a leap second
      return 3600 * two(at) + 60 * two(at + 3) + two(at + 6);
  }
  return std::nullopt;
}

std::optional<KeyValue> key_value(std::string_view line) {
  const std::size_t at = line.find_first_of(":=");
  if (at == std::string_view::npos) return std::nullopt;
  return KeyValue{.key = trimmed(line.substr(0, at)), .value = trimmed(line.substr(at + 1))};
}

bool KeyValueBlock::add(std::string_view key, std::string_view value, std::int64_t line) {
  constexpr std::size_t max_keys = 1024, max_field = 4096;  // others are of no format: memory does not grow with a log
  if (has(key)) return false;
  if (values_.size() < max_keys && key.size() + value.size() <= max_field) values_.emplace(key, value);
  line_ = line;
  return true;
}

std::optional<double> KeyValueBlock::real(std::string_view key) const {
  std::string_view value = text(key);
  const std::optional<double> number = take_number(value);
  return number && *number >= 0.0 ? number : std::nullopt;
}

std::optional<std::int64_t> KeyValueBlock::count(std::string_view key) const { return whole(real(key)); }

std::string_view KeyValueBlock::text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string_view{} : found->second;
}

std::vector<double> KeyValueBlock::list(std::string_view prefix, std::size_t from) const {
  std::vector<double> numbers;
  while (const std::optional<double> number = real(fmt::format("{}{}", prefix, from + numbers.size()))) {
    numbers.push_back(*number);
  }
  return numbers;
}

void BlockReader::add(std::string_view key, std::string_view value, std::int64_t number, LogContents& contents) {
  if (block_.add(key, value, number)) return;
  close(contents);
  block_.add(key, value, number);
}

namespace {

/// End of the cell that begins at line[at]: a comma outside quotes, or the end of the line.
std::size_t end_of_cell(std::string_view line, std::size_t at) {
  bool quoted = false;
  for (; at < line.size() && (quoted || line[at] != ','); ++at) {
    if (line[at] == '"') quoted = !quoted;
  }
  return at;
}

std::string unquoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
  std::string text;
  for (std::size_t at = 1; at + 1 < cell.size(); ++at) {
    text += cell[at];
    if (cell[at] == '"' && cell[at + 1] == '"' && at + 2 < cell.size()) ++at;
  }
  return text;
}

}  // namespace

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = end_of_cell(line, at);
    cells.push_back(unquoted(trimmed(line.substr(at, end - at))));
    at = end + 1;
  }
  return cells;
}

namespace {

constexpr std::array<std::string_view, 3> drawn_bars{"\xE2\x94\x82", "\xE2\x94\x83", "\xE2\x95\x91"};

/// Replaces box-drawing bars by plain ones.
std::string with_plain_bars(std::string_view line) {
  if (line.find(drawn_bars[0][0]) == line.npos) return std::string(line);
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    const bool bar = std::ranges::find(drawn_bars, line.substr(at, 3)) != drawn_bars.end();
    text += bar ? '|' : line[at];
    at += bar ? 3 : 1;
  }
  return text;
}

std::vector<std::string> cells_between(std::string_view line, char separator) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    cells.emplace_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return cells;
}

/// Cells separated by at least `blanks` blanks, or by tabs.
std::vector<std::string> aligned_cells(std::string_view line, std::size_t blanks) {
  std::vector<std::string> cells;
  line = trimmed(line);
  while (!line.empty()) {
    std::size_t end = line.find_first_of(" \t");
    std::size_t next = end;
    while (end != std::string_view::npos) {
      next = std::min(line.find_first_not_of(" \t", end), line.size());
      if (next - end >= blanks || line.substr(end, next - end).find('\t') != std::string_view::npos) break;
      end = line.find_first_of(" \t", next);
    }
    cells.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
    line.remove_prefix(next);
  }
  return cells;
}

}  // namespace

TableLayout layout_of(std::string_view header) {
  const std::string text = with_plain_bars(header);
  const auto count = [&](char c) { return std::count(text.begin(), text.end(), c); };
  if (trimmed(text).starts_with('|') && trimmed(text).ends_with('|')) return TableLayout::enclosed;
  if (trimmed(text).starts_with('|') || count('|') >= 2) return TableLayout::bars;
  if (count(',') > 0) return TableLayout::commas;
  if (count('\t') > 0) return TableLayout::tabs;
  if (text.find(" | ") != std::string::npos) return TableLayout::bars;  // of two columns
  return count(';') > 0 ? TableLayout::semicolons : TableLayout::blanks;
}

std::vector<std::string> table_cells(std::string_view line, TableLayout layout, std::size_t count) {
  if (layout == TableLayout::commas) return csv_cells(line);
  if (layout == TableLayout::tabs) return cells_between(line, '\t');
  if (layout == TableLayout::semicolons) return cells_between(line, ';');
  if (layout == TableLayout::list) {
    static const RE2 item("[ \\t]*(?:[-*+] |\xE2\x80\xA2 ?)?[ \\t]*([^:|]+):[*`~ \\t]*(\\d[^:|]*)", RE2::Latin1);
    std::string name, value;
    if (!RE2::FullMatch(piece(line), item, &name, &value)) return {};
    return {std::string(trimmed(name)), std::string(trimmed(value))};
  }
  if (layout == TableLayout::blanks) {
    line = line.substr(0, line.find("  <"));  // a remark after a row: "<- best"
    std::vector<std::string> cells = aligned_cells(line, 2);
    if (count != 0 ? cells.size() != count : cells.size() < 2) cells = aligned_cells(line, 1);
    return cells;
  }
  const std::string text = with_plain_bars(line);
  std::string_view inner = trimmed(text);
  if (layout == TableLayout::bars && count != 0) {  // bars only between cells, of which the last may be empty
    if (std::vector<std::string> cells = cells_between(inner, '|'); cells.size() == count) return cells;
  }
  const bool open = inner.starts_with('|'), closed = inner.ends_with('|');
  if (closed) inner.remove_suffix(1);
  std::vector<std::string> cells = cells_between(inner, '|');
  // If bars stand only between cells, a line that begins with one has an empty first cell.
  const bool enclosed = closed || layout == TableLayout::enclosed;
  if (open && !cells.empty() && (enclosed || cells.size() != count)) cells.erase(cells.begin());
  return cells;
}

bool is_ruling(std::string_view line) {
  static const RE2 drawn("[-:=+| \\t\\x{2500}-\\x{257F}]*");  // and what draws boxes in Unicode
  constexpr std::array<std::string_view, 5> lines{"--", "==", "\xE2\x94\x80", "\xE2\x94\x81", "\xE2\x95\x90"};
  return std::ranges::any_of(lines, [&](std::string_view rule) { return line.find(rule) != line.npos; }) &&
         RE2::FullMatch(piece(line), drawn);
}

}  // namespace foredraft::logs
