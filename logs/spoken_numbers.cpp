// SPDX-License-Identifier: Apache-2.0
#include "logs/spoken_numbers.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

/// A number in a line, with or without a unit.
struct Figure {
  SpokenPlace place;
  bool is_speed;
};

/// The number at `begin`; nullopt if it has another unit or is a difference. `of_times`: "ms" is a time per token.
std::optional<Figure> figure_at(std::string_view text, std::size_t begin, bool of_times) {
  static const RE2 unit("(?i)[`* ]*" + std::string(spoken_unit)), ms("(?i)[`* ]*ms\\b");
  static const RE2 other(
      R"((?i)[`*]*(?:[%a-z_\x{d7}]| ?(?:%|(?:ms|s|sec|seconds|[gm]i?b|x|tok\w*|prompts?|requests?|times)\b)))");
  static const RE2 differs(
      "(?i)[`* ]*(?:faster|slower|more|less|higher|lower|gain|increase|improvement|difference)\\b");
  std::string_view rest = text.substr(begin);
  const auto number = take_number(rest);
  if (!number || !(*number > 0.0)) return std::nullopt;
  double value = *number;
  static const RE2 range("(?i) ?(?:-|\xE2\x80\x93) ?(\\d[\\d.,]*)");
  re2::StringPiece behind = rest, high;
  if (RE2::Consume(&behind, range, &high)) {
    std::string_view digits(high.data(), high.size());
    const auto last = take_number(digits);
    if (!last || *last < value) return std::nullopt;
    value = 0.5 * (value + *last);
  }
  const auto place = [&](bool is_time) -> SpokenPlace {
    const auto end = static_cast<std::size_t>(behind.data() - text.data());
    return {.begin = begin, .end = end, .value = is_time ? 1e3 / value : value, .is_time = is_time};
  };
  const re2::StringPiece bare = behind;
  const bool is_speed = RE2::Consume(&behind, unit) || (of_times && RE2::Consume(&behind, ms));
  if (!is_speed) {
    const bool of_name = begin > 0 && text[begin - 1] == '=';  // "K=2 up to 36 tok/s"
    if (of_name || RE2::Consume(&behind, other)) return std::nullopt;
    return Figure{place(false), false};
  }
  const std::string_view words(bare.data(), bare.size() - behind.size());
  const bool is_time = in_lower_case(words).find("ms") != std::string::npos;
  const SpokenPlace found = place(is_time);
  if (RE2::Consume(&behind, differs)) return std::nullopt;
  return Figure{found, true};
}

/// Numbers that may be speeds, in their order.
std::vector<Figure> figures_in(std::string_view text) {
  static const RE2 number("(?:^|[^\\w.,+\\x{b1}-])(\\d)");
  static const RE2 times("(?i)\\b(?:tpot|itl|time per output token|inter-token latency)\\b"), others("(?i)\\bttft\\b");
  const bool of_times = RE2::PartialMatch(text, times) && !RE2::PartialMatch(text, others);
  std::vector<Figure> figures;
  std::array<re2::StringPiece, 2> groups;
  std::size_t at = 0;
  while (at < text.size() && number.Match(text, at, text.size(), RE2::UNANCHORED, groups.data(), groups.size())) {
    const auto begin = static_cast<std::size_t>(groups[1].data() - text.data());
    const auto figure = figure_at(text, begin, of_times);
    if (figure) figures.push_back(*figure);
    at = figure ? figure->place.end : text.find_first_not_of("0123456789.,", begin);
  }
  return figures;
}

}  // namespace

std::vector<SpokenPlace> spoken_places(std::string_view text) {
  constexpr std::size_t longest = 60;  // bytes between two numbers of a change
  static const RE2 change(R"((?i)[ `*]*(?:\([^()]*\))?[ `*]*(?:[-=]>|\x{2192}|(?:(?:down|up|back) )?to)[ ~`*]*)");
  static const RE2 versus(R"((?i)[ `*]*(?:\([^()]*\))?[ `*,]*(?:vs\.?|versus|against|compared (?:to|with))[ ~`*]*)");
  static const RE2 list("(?i)[ `*]*(?:,|;|/|&|and|,? and)[ ~`*]*");  // of changes
  static const RE2 only_to("(?i)[ `*]*to[ ~`*]*"), from(R"((?is).*\bfrom[ ~`*]*)");
  std::vector<Figure> figures = figures_in(text);
  for (std::size_t i = 1; i < figures.size(); ++i) {
    SpokenPlace& before = figures[i - 1].place;
    SpokenPlace& one = figures[i].place;
    const std::string_view between = text.substr(before.end, one.begin - before.end);
    if (between.size() > longest) continue;
    one.changes = RE2::FullMatch(between, change);
    one.compared = RE2::FullMatch(between, versus);
    const std::string_view front = text.substr(0, before.begin);
    const std::string_view words = front.substr(front.size() - std::min(front.size(), longest));
    const bool is_range = !figures[i - 1].is_speed && RE2::FullMatch(between, only_to) && !RE2::FullMatch(words, from);
    if (!is_range) continue;
    one = {.begin = before.begin, .end = one.end, .value = 0.5 * (before.value + one.value)};
    figures[i - 1].is_speed = false;
    before.value = 0.0;
  }
  const auto joins = [&](std::size_t i) { return figures[i].place.changes || figures[i].place.compared; };
  const auto join = [](Figure& one, const Figure& other) {  // has the unit of the other
    if (one.is_speed || !other.is_speed || !(one.place.value > 0.0)) return;
    one.is_speed = true;
    one.place.is_time = other.place.is_time;
    if (one.place.is_time) one.place.value = 1e3 / one.place.value;
  };
  for (std::size_t i = 1; i < figures.size(); ++i) {
    if (joins(i)) join(figures[i], figures[i - 1]);
  }
  for (std::size_t i = figures.size(); i-- > 1;) {
    const SpokenPlace& before = figures[i - 1].place;
    const std::string_view between = text.substr(before.end, std::max(figures[i].place.begin, before.end) - before.end);
    const bool in_list = before.changes && between.size() <= longest && RE2::FullMatch(between, list);
    if (joins(i) || in_list) join(figures[i - 1], figures[i]);
  }
  std::vector<SpokenPlace> places;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (!figures[i].is_speed) continue;
    places.push_back(figures[i].place);
    const bool follows = i > 0 && figures[i - 1].is_speed;
    places.back().changes = places.back().changes && follows;
    places.back().compared = places.back().compared && follows;
  }
  return places;
}

}  // namespace foredraft::logs
