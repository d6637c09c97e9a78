// SPDX-License-Identifier: Apache-2.0
#include "logs/labeled_speeds.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/spoken_numbers.hpp"

namespace foredraft::logs {
namespace {

constexpr const char* summary_words =
    R"((?i)(?:\b|_)(?:results?|summary|overall|mean|median|avg|average|total|final)(?:\b|_))";

/// A speed in a line, with its key or unit.
struct SpeedPlace {
  std::size_t begin = 0, end = 0;
  double value = 0.0;
  bool has_key = false;  ///< no unit
};

/// The output speeds of a line, but not limits and quantiles: those of prompts are none.
std::vector<SpeedPlace> output_speeds(std::string_view text) {
  static const RE2 speed(
      R"((?i)(?:^|[^\w.,+-])(?:(\d[\d,]*(?:\.\d+)?)[`* ]*(?:(?:t|toks?|tokens?)(?:/| per )s(?:ec(?:ond)?)?|tps)\b)"
      R"(|(?:(?:mean|avg|average|median|gen(?:eration)?|decode|eval)[_ ])*(?:tps|(?:t|tok(?:en)?s?)(?:/|[_ ]per[_ ]|_)s(?:ec(?:ond)?)?)["']? ?[:=] ?(\d[\d,]*(?:\.\d+)?))(?:[^\w.]|[.]\W|[.]?$))");
  static const RE2 limit(R"((?i).*\b(?:min|max|best|worst|p\d\d?|std\w*|sd|ttft)\W*)");
  static const RE2 counted(R"((?i)\bprompts?(?:[ _#-]*\d+|[=\]])|\b[\w/]+ ?= ?[\d.]+)");  // "prompt 2" is a label
  static const RE2 is_key(R"(["']? ?[:=] ?\d.*)");
  static const RE2 apart(R"((?:.*(?:[:=|\])>]|  |\t))?[ \t`*~]*)");  // no sentence
  std::vector<SpeedPlace> places;
  std::array<re2::StringPiece, 3> groups;
  for (std::size_t at = 0; speed.Match(piece(text), at, text.size(), RE2::UNANCHORED, groups.data(), groups.size());) {
    const auto offset = [&](const re2::StringPiece& of) { return static_cast<std::size_t>(of.data() - text.data()); };
    const re2::StringPiece& number = groups[1].data() != nullptr ? groups[1] : groups[2];
    const std::size_t begin = groups[1].data() != nullptr ? offset(number) : offset(groups[0]);
    std::string before(text.substr(at, begin - at));
    RE2::GlobalReplace(&before, counted, " ");
    std::string_view digits = text.substr(offset(number));
    at = offset(number) + number.size();
    const std::size_t end = std::max(at, offset(groups[0]) + groups[0].size());
    if (groups[1].data() != nullptr && RE2::FullMatch(piece(text.substr(end - 1)), is_key))
      continue;  // "4096 tok/s: 30"
    const auto value = take_number(digits);
    if (!value || !(*value > 0.0) || names_other_speed(before) || RE2::FullMatch(before, limit) ||
        (groups[1].data() != nullptr && !RE2::FullMatch(piece(text.substr(0, begin)), apart)))
      continue;
    places.push_back({.begin = begin, .end = end, .value = *value, .has_key = groups[1].data() == nullptr});
  }
  return places;
}

/// Text without what counts lines: times, "2/10", "rep 3", "#4".
std::string without_counters(std::string_view text) {
  static const RE2 counters(
      R"((?i)\d{4}-\d\d-\d\d[T ]?|\d\d?:\d\d:\d\d(?:[.,]\d+)?Z?|\b(?:info|debug|warning)\b|\b\d+ ?/ ?\d+\b|#\d+)"
      R"(|^\W*\d+[.)\]]? *$|^\W*\d+[.)\]] |\b(?:rep|run|iter(?:ation)?|trial|try|round|seed|sample|req(?:uest)?)[ _#-]*\d+\b)");
  std::string rest(text);
  RE2::GlobalReplace(&rest, counters, " ");
  return rest;
}

/// Words that name prompts, without arms, counters and words of summaries.
std::string label_of(std::string_view words) {
  static const RE2 summary(summary_words), length(R"((?i)\b(?:mtp|nextn|dflash)\d+\b)");
  std::string label = without_counters(words);
  RE2::GlobalReplace(&label, summary, " ");
  RE2::GlobalReplace(&label, length, " ");
  return without_arm(label);
}

/// The label of a line: a key that names it, the words before the speed, or those at the end of the line.
std::string label_in(std::string_view text, const SpeedPlace& place) {
  static const RE2 key(
      R"((?i)\b(?:task|case|prompt|name|category|kind|test|scenario|dataset|workload)["']?[=:] ?["']?([\w.-]+))");
  static const RE2 ends("[:=|]|->| - "), list(R"((?i)\bruns?:|\[[^\]]*(?:\]|$))"),
      behind(R"((?:.*\||.*?(?: - |: | on | for )) *(.*))");
  std::string named;
  if (RE2::PartialMatch(piece(text), key, &named)) return label_of(named);
  static const RE2 condition(
      R"((?i)\b((?:ctx|context|depth|(?:prompt|input)[_ ]?len\w*|batch(?:[_ ]size)?|bs|conc\w*|users?|np|parallel) ?[=:] ?\d+k?)\b)");
  static const RE2 keys(R"([\w/.-]+ ?=(?: ?[\d.]+ ?(?:m?s)?(?:[ ,;]|$))?)");  // what it counts is no label
  std::string before = without_counters(text.substr(0, place.begin));
  std::string named_condition;
  const bool has_condition = RE2::PartialMatch(before, condition, &named_condition);
  RE2::GlobalReplace(&before, keys, "=");
  re2::StringPiece rest = before;
  std::string label;
  while (label.empty() && !rest.empty()) {
    const re2::StringPiece from = rest;
    const bool found = RE2::FindAndConsume(&rest, ends);
    label = label_of({from.data(), found ? static_cast<std::size_t>(rest.data() - from.data()) : from.size()});
    if (!found) break;
  }
  if (has_condition) label += (label.empty() ? "" : " ") + label_of(named_condition);
  if (!label.empty()) return label;
  std::string after(text.substr(place.end));
  RE2::GlobalReplace(&after, list, " ");
  constexpr std::size_t longest = 40;
  return RE2::FullMatch(after, behind, &named) ? label_of(named).substr(0, longest) : "";
}

}  // namespace

std::optional<LabeledSpeed> labeled_speed(std::string_view text, std::int64_t number) {
  constexpr std::size_t longest_line = 300, longest_label = 48;
  static const RE2 other(
      R"((?i)\bwarm[- ]?up|\bagg(?:regate\w*)?\b|\bcombined\b|\bsystem\b|->|\bvs\b|\b(?:faster|slower|more|less|gain)\b)"),
      summary(summary_words);
  if (text.size() > longest_line || trimmed(text).starts_with('|') || RE2::PartialMatch(piece(text), other))
    return std::nullopt;
  const std::vector<SpeedPlace> places = output_speeds(text);
  if (places.size() != 1) return std::nullopt;
  const SpeedPlace& place = places.front();
  LabeledSpeed speed{.line = number, .label = label_in(text, place), .tokens_per_s = place.value};
  // A cell of a table; below the name of its arm a line may have nothing but the key.
  const bool bare = speed.label.empty() && trimmed(text.substr(0, place.begin)).empty() && !place.has_key;
  if (bare || speed.label.size() > longest_label) return std::nullopt;  // or a sentence
  constexpr std::size_t near = 10;                                      // "26.6 tok/s median"
  speed.is_summary = RE2::PartialMatch(piece(text.substr(0, place.end + near)), summary);
  speed.arm = arm_in_text(text.substr(0, place.begin));
  if (const auto length = spoken_length(text); length && length->is_exact) speed.length = length->value;
  return speed;
}

std::vector<LabeledSpeed> without_repeated(std::vector<LabeledSpeed> speeds) {
  const std::vector<LabeledSpeed> all = speeds;
  const auto same_arm = [](const LabeledSpeed& one, const LabeledSpeed& other) {
    return one.arm.has_value() == other.arm.has_value() &&
           (!one.arm || (one.arm->plain == other.arm->plain && one.arm->gamma == other.arm->gamma &&
                         one.arm->drafter == other.arm->drafter));
  };
  std::erase_if(speeds, [&](const LabeledSpeed& one) {
    const auto here = std::ranges::find(all, one.line, &LabeledSpeed::line);
    const auto repeats = [&](const LabeledSpeed& other) { return same_arm(one, other) && other.label == one.label; };
    if (one.is_summary && one.label.empty())
      return std::ranges::any_of(
          all, [&](const LabeledSpeed& other) { return same_arm(one, other) && !other.label.empty(); });
    if (one.is_summary) return here != all.begin() && std::prev(here)->is_summary && repeats(*std::prev(here));
    return std::any_of(here, all.end(), [&](const LabeledSpeed& other) { return other.is_summary && repeats(other); });
  });
  return speeds;
}

}  // namespace foredraft::logs
