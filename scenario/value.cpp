// SPDX-License-Identifier: Apache-2.0
#include "scenario/value.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/numbers.hpp"

namespace foredraft::scenario {

std::string to_text(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
    return fmt::format("{}", fmt::join(*texts, " "));
  std::string result;
  if (const auto* rows = std::get_if<Schedule>(&value)) {
    for (const auto& [from, to, held] : *rows) {
      result += fmt::format("{}{}-{}:{}", result.empty() ? "" : " ", from, to, held);
    }
    return result;
  }
  for (const double number : std::get<std::vector<double>>(value)) {
    if (!result.empty()) result += ' ';
    append_number(result, number);
  }
  return result;
}

bool contains(const ValueRange& range, double number) {
  const bool above = range.excludes_minimum ? number > range.minimum : number >= range.minimum;
  const bool below = range.excludes_maximum ? number < range.maximum : number <= range.maximum;
  return above && below && !(range.whole && number != std::floor(number));
}

std::string range_reason(const ValueRange& range) {
  if (range.maximum >= unbounded) {
    return fmt::format("be finite and {} {}", range.excludes_minimum ? "above" : "at least",
                       number_text(range.minimum));
  }
  return fmt::format("{} {}{}, {}{}", range.whole ? "be a whole number in" : "lie in",
                     range.excludes_minimum ? '(' : '[', number_text(range.minimum), number_text(range.maximum),
                     range.excludes_maximum ? ')' : ']');
}

std::string first_outside(std::string_view key, const ValueRange& range, const Value& value) {
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    const auto wrong = std::ranges::find_if(*list, [&](double number) { return !contains(range, number); });
    return wrong == list->end() ? "" : fmt::format("{}[{}]={}", key, wrong - list->begin(), *wrong);
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (integer == nullptr && real == nullptr) return {};
  const double number = integer != nullptr ? static_cast<double>(*integer) : *real;
  return contains(range, number) ? "" : fmt::format("{}={}", key, to_text(value));
}

void check_numbers(std::string_view key, const ValueRange& range, const Value& value) {
  const std::string wrong = first_outside(key, range, value);
  if (!wrong.empty()) throw DomainError(fmt::format("invalid {} (must {})", wrong, range_reason(range)));
}

std::optional<double> number_of(const Node& node) {
  if (const auto* number = std::get_if<double>(&node.value)) return *number;
  const auto* integer = std::get_if<std::int64_t>(&node.value);
  return integer == nullptr ? std::nullopt : std::optional(static_cast<double>(*integer));
}

std::optional<std::int64_t> whole_number(const Node& node) {
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return *integer;
  return whole(number_of(node));
}

std::string_view kind_of(const Node& node) {
  constexpr std::array<std::string_view, 6> kinds{"a truth value", "a whole number", "a number",
                                                  "a string",      "a list",         "a table"};
  if (const auto* unsupported = std::get_if<Unsupported>(&node.value)) return unsupported->kind;
  return kinds[node.value.index()];
}

nlohmann::ordered_json to_json(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

}  // namespace foredraft::scenario
