// SPDX-License-Identifier: Apache-2.0
#include "logs/arm_headings.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <cstddef>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {

bool is_arm(std::string_view heading) {
  static const RE2 drafter("(?i).*(?:^|[^a-z])(?:" + std::string(names_of_drafters) + "|spec|draft).*");
  static const RE2 other(
      R"((?i).*(?:delta|speed-?up|chang|improve|gain|(?:^|[^a-z\x80-\xFF])ratio|diff|\xCE\x94|accept|position)"
      R"(|\b(?:vs|over|versus|against|relative|compared)\b)"
      R"(|prefill|prompt (?:proc|eval)).*)",
      RE2::Latin1);
  static const RE2 starts_with_letter(R"((?i)(?:\+ ?|--)?[a-z\x80-\xFF].*)", RE2::Latin1);
  static const RE2 switched_on("(?i)(?:on|yes|enabled|with(?: .*)?)");
  const std::string text(trimmed(heading));
  const Meaning meaning = column_of(text).meaning;
  if (meaning != Meaning::ignored && meaning != Meaning::name) return false;
  if (!RE2::FullMatch(text, starts_with_letter) || RE2::FullMatch(text, other)) return false;
  const Arm arm = arm_named(text);
  return arm.plain || arm.gamma || RE2::FullMatch(text, drafter) || RE2::FullMatch(text, switched_on);
}

bool is_measure(std::string_view heading) {
  const Meaning meaning = column_of(heading).meaning;
  return is_speed_or_time(meaning) || is_acceptance(meaning);
}

std::optional<ArmHeading> arm_heading_of(std::string heading) {
  if (heading.find_first_of(" (") == std::string::npos) std::ranges::replace(heading, '_', ' ');
  static const RE2 bracketed(R"((.*?)\s*[(\[]([^()\[\]]*)[)\]])");
  std::string outside;
  std::string inside;
  if (RE2::FullMatch(heading, bracketed, &outside, &inside)) {
    if (is_arm(inside) && is_measure(outside)) return ArmHeading{.arm = inside, .measure = outside};
    if (is_arm(outside) && is_measure(inside)) return ArmHeading{.arm = outside, .measure = inside};
  }
  if (column_of(heading).meaning != Meaning::ignored) return std::nullopt;
  for (std::size_t at = heading.find(' '); at != std::string::npos; at = heading.find(' ', at + 1)) {
    const std::string before = heading.substr(0, at);
    const std::string after = heading.substr(at + 1);
    const bool with = in_lower_case(before) == "with";  // "with drafts"
    if (is_measure(after) && is_arm(before) && !with) return ArmHeading{.arm = before, .measure = after};
    if (is_measure(before) && is_arm(after)) return ArmHeading{.arm = after, .measure = before};
  }
  return std::nullopt;
}

}  // namespace foredraft::logs
