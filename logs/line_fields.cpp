// SPDX-License-Identifier: Apache-2.0
#include "logs/line_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>

namespace foredraft::logs {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool continues_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#';
}

/// Behind the first `label` that does not stand within a word.
std::optional<std::string_view> behind(std::string_view text, std::string_view label) {
  for (std::size_t at = text.find(label); at != std::string_view::npos; at = text.find(label, at + 1)) {
    if (at == 0 || !continues_word(text[at - 1])) return text.substr(at + label.size());
  }
  return std::nullopt;
}

/// Digits of `text` in groups of three behind commas, as in 1,355.35, the first group taken.
bool thousands_follow(std::string_view text) {
  return text.size() >= 4 && text[0] == ',' && std::all_of(text.begin() + 1, text.begin() + 4, is_digit) &&
         (text.size() == 4 || !is_digit(text[4]));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::optional<double> take_number(std::string_view& text) {
  std::string_view rest = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
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
  // What looked like an exponent or a sentence's full stop belongs to the text.
  double number = 0.0;
  const char* const begin = digits.data() + (size > 0 && digits[0] == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, digits.data() + size, number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  const auto unread = static_cast<std::size_t>(digits.data() + size - end);
  text = std::string_view(rest.data() - unread, rest.size() + unread);
  return number;
}

std::optional<std::int64_t> whole(std::optional<double> number) {
  if (!number || !(*number >= 0.0 && *number <= static_cast<double>(max_logged_count))) return std::nullopt;
  if (*number != std::floor(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> number_after(std::string_view text, std::string_view label, std::string_view unit) {
  std::optional<std::string_view> rest = behind(text, label);
  if (!rest) return std::nullopt;
  const std::optional<double> number = take_number(*rest);
  return number && rest->starts_with(unit) ? number : std::nullopt;
}

std::optional<std::int64_t> count_after(std::string_view text, std::string_view label, std::string_view unit) {
  return whole(number_after(text, label, unit));
}

std::optional<std::string_view> text_after(std::string_view text, std::string_view label, std::string_view end) {
  const std::optional<std::string_view> rest = behind(text, label);
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

std::optional<std::int64_t> clock_in(std::string_view text) {
  const auto two = [&](std::size_t at) { return 10 * (text[at] - '0') + (text[at + 1] - '0'); };
  const auto digits = [&](std::size_t at) { return is_digit(text[at]) && is_digit(text[at + 1]); };
  for (std::size_t at = 0; at + 8 <= text.size(); ++at) {
    if (text[at + 2] != ':' || text[at + 5] != ':' || !digits(at) || !digits(at + 3) || !digits(at + 6)) continue;
    return 3600 * two(at) + 60 * two(at + 3) + two(at + 6);
  }
  return std::nullopt;
}

std::optional<KeyValue> key_value(std::string_view line) {
  const std::size_t at = line.find_first_of(":=");
  if (at == std::string_view::npos) return std::nullopt;
  return KeyValue{.key = trimmed(line.substr(0, at)), .value = trimmed(line.substr(at + 1))};
}

}  // namespace foredraft::logs
