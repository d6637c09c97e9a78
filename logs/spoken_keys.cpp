// SPDX-License-Identifier: Apache-2.0
#include "logs/spoken_keys.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "core/numbers.hpp"
#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// The heading that the last words of a key are: of "our plain TPOT" "plain TPOT". In words the metric is last: of "40
/// tok/s with MTP: 3" it is the unit of another number. The speed of a draft model alone has no metric, and
/// neither has a goal, an extreme or a spread.
std::optional<ArmHeading> heading_in(std::string_view key, std::size_t& begin) {
  static const RE2 draft_model("(?i)(?:.*[ _])?draft(?:er|ing)?(?:[ _]model)?[ _](.*)");
  static const RE2 other(
      R"((?i)(?:^|.*[ _])(?:expected|target|goal|min|peak|best|worst|threshold|limit|std\w*|p[1-46-9]\d|p5[1-9])(?:[ _].*|$))"
      R"(|max[ _].*|.*[ _]max(?:[ _]t.*|$))");
  std::string of_draft;
  static const RE2 metric(R"((?i)(?:^|_)(?:tps|tpot|t(?:ok(?:en)?s?)?(?:/|[_ ]per[_ ]|_)s(?:ec(?:ond)?)?|ms)(?:_|$))");
  const bool is_other = RE2::FullMatch(piece(key), other) && RE2::PartialMatch(piece(key), metric);
  if (is_other ||
      (RE2::FullMatch(piece(key), draft_model, &of_draft) && is_speed_or_time(column_of(of_draft).meaning))) {
    begin = 0;
    return ArmHeading{};
  }
  for (begin = 0; begin < key.size(); begin = std::min(key.find(' ', begin), key.size() - 1) + 1) {
    const std::string_view words = key.substr(begin);
    auto heading = arm_heading_of(std::string(words));
    if (!heading) continue;
    const bool ends = words.ends_with(heading->measure) || words.ends_with(heading->measure + ")");
    if (words.find(' ') != words.npos && !ends) return std::nullopt;
    const auto arm = arm_in_text(heading->arm);
    const bool plain = arm_named(heading->arm).plain;
    if (!plain && (!arm || arm->plain)) heading->measure.clear();
    if (plain) heading->arm = "baseline";
    return heading;
  }
  return std::nullopt;
}

/// Milliseconds of the unit of a time, which its key or its value states; else as of times in tables. 0: unknown.
double unit_of(double stated, std::string_view unit, double value) {
  constexpr double least_ms = 2.0, most_s = 0.3;
  if (stated > 0.0) return stated;
  if (!unit.empty()) return unit.starts_with("ms") ? 1.0 : 1000.0;
  return value >= least_ms ? 1.0 : value <= most_s ? 1000.0 : 0.0;
}

/// A speed or a time per token with its unit; empty if the heading is of something else.
std::string spoken_value(const std::string& measure, double value, std::string_view unit) {
  const Column column = column_of(measure);
  const bool is_time = unit.starts_with("ms") || unit == "s";
  if (column.meaning == Meaning::tpot) {
    const double ms = unit.empty() || is_time ? unit_of(column.unit, unit, value) : 0.0;
    return ms > 0.0 ? fmt::format("{} ms/token", number_text(value * ms)) : "";
  }
  const bool is_speed = column.meaning == Meaning::speed || column.meaning == Meaning::request_speed;
  return is_speed && !is_time ? fmt::format("{} tok/s", number_text(value)) : "";
}

}  // namespace

std::string with_spoken_keys(std::string_view text) {
  static const RE2 pair(
      R"((?i)([a-z][\w./+-]*(?: [\w./()+-]+){0,4})["'`*]{0,3}[ \t]*[:=][ \t"'`*~]{0,24}(\d+(?:[.,]\d+)*))"
      R"((?: ?(ms|s|t(?:ok(?:en)?s?)?/s(?:ec)?|tps)(?:/tok(?:en)?)?\b)?)",
      byte_options());
  static const RE2 goes_on("(?i)[`*]*(?:[\\w%]| ?(?:%|x\\b|\xC3\x97|/|->|-|\xE2\x86\x92|\xE2\x80\x93|(?:to|vs)\\b)).*",
                           byte_options());
  std::string spoken;
  std::array<re2::StringPiece, 4> groups;
  const auto offset = [&](const re2::StringPiece& of) { return static_cast<std::size_t>(of.data() - text.data()); };
  std::size_t done = 0;
  bool is_spoken = false;
  for (std::size_t at = 0; pair.Match(piece(text), at, text.size(), RE2::UNANCHORED, groups.data(), groups.size());) {
    at = offset(groups[0]) + groups[0].size();
    std::string_view digits(groups[2].data(), groups[2].size());
    const auto value = take_number(digits);
    std::size_t begin = 0;
    const auto heading = heading_in({groups[1].data(), groups[1].size()}, begin);
    if (!value || !heading) continue;
    if (RE2::FullMatch(piece(text.substr(at)), goes_on)) return std::string(text);
    const std::string unit = in_lower_case({groups[3].data(), groups[3].size()});
    const std::string said = spoken_value(heading->measure, *value, unit);
    spoken += text.substr(done, offset(groups[1]) + begin - done);
    // Another number would look like a speed beside those with a unit.
    if (!said.empty()) spoken += fmt::format("{}: {}", heading->arm, said);
    is_spoken = is_spoken || !said.empty();
    done = at;
  }
  if (!is_spoken) return std::string(text);
  return spoken += text.substr(done);
}

}  // namespace foredraft::logs
