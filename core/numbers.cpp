// SPDX-License-Identifier: Apache-2.0
#include "core/numbers.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace foredraft {

std::optional<std::int64_t> whole(std::optional<double> number) {
  constexpr double exact = 0x1.0p53;
  if (!number || *number != std::trunc(*number) || std::abs(*number) > exact) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

namespace {

void append_shortest(std::string& text, auto number) {
  std::array<char, 32> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills it
  text.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr);
}

}  // namespace

void append_number(std::string& text, double number) { append_shortest(text, number); }
void append_number(std::string& text, std::uint64_t number) { append_shortest(text, number); }

std::string number_text(double number) {
  std::string text;
  append_number(text, number);
  return text;
}

std::string short_number_text(double number) {
  constexpr std::size_t longest = 13;  // 12 digits and a point
  std::string text = number_text(number);
  return text.size() <= longest ? text : fmt::format("{:.12g}", number);
}

std::string brief_number_text(double number) {
  constexpr auto typed_digits = 10;
  std::string exact = number_text(number);
  const auto digits = std::ranges::count_if(exact, [](char letter) { return letter >= '0' && letter <= '9'; });
  return digits <= typed_digits ? exact : fmt::format("{:.4g}", number);
}

std::string decimal_text(double number, int digits) {
  constexpr double fixed_below = 1e6;
  return std::abs(number) < fixed_below ? fmt::format("{:.{}f}", number, digits)
                                        : fmt::format("{:.{}e}", number, digits);
}

std::optional<double> parse_real(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error == std::errc{} && end == text.data() + text.size()) return integer;
  return whole(parse_real(text));
}

std::optional<double> parse_quantity(std::string_view text) {
  constexpr std::array<std::pair<char, double>, 6> factors{
      {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'K', 0x1p10}, {'M', 0x1p20}, {'G', 0x1p30}}};
  const bool percent = text.ends_with('%');
  const auto* const suffix = std::ranges::find_if(factors, [&](const auto& one) { return text.ends_with(one.first); });
  if (!percent && suffix == factors.end()) return parse_real(text);
  const auto number = parse_real(text.substr(0, text.size() - 1));
  if (!number) return std::nullopt;
  // 80 / 100 is the double nearest to 0.8; 80 * 0.01 may not be.
  const double value = percent ? *number / 100.0 : *number * suffix->second;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_whole_quantity(std::string_view text) {
  if (const auto integer = parse_integer(text)) return integer;
  return whole(parse_quantity(text));
}

double round_to_half(double value) {
  constexpr int smallest_exponent = -14;  // below, the spacing stays at 2^-24
  constexpr int significant_bits = 11;
  constexpr double largest = 65504.0;
  if (value == 0.0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), smallest_exponent);
  const int spacing = exponent - (significant_bits - 1);
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  if (std::abs(nearest) <= largest) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace foredraft
