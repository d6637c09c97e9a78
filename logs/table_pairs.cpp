// SPDX-License-Identifier: Apache-2.0
#include "logs/table_pairs.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// The arm after the plain one in words that name both: "MTP" of "plain / MTP" and "no spec -> MTP"; empty for others.
std::string drafting_after_plain(std::string_view words) {
  static const RE2 both("\\W*([^/>]*?) ?(?:/|->|\xE2\x86\x92) ?([^/>]*?)\\W*");
  std::string first, second;
  static const RE2 initials(R"((?i)\W*[bp] ?(?:->|\x{2192}) ?[ds]\W*)");  // baseline, plain; draft, speculative
  if (RE2::FullMatch(piece(words), initials)) return "speculative";
  if (!RE2::FullMatch(piece(words), both, &first, &second)) return "";
  const Arm arm = arm_named(second);
  const bool drafts = arm.speculative || arm.gamma || arm_in_text(second);
  return arm_named(first).plain && !arm.plain && drafts ? second : "";
}

/// Takes the words that say what the pairs in a column are from its heading, "(plain -> MTP)", or "off -> on" at its
/// end or beginning; empty if it has none.
std::string take_arms(std::string& heading) {
  static const RE2 bracket(R"((.*)\(([^()]*)\)[\s:*]*)");
  std::string before, sides;
  if (RE2::FullMatch(heading, bracket, &before, &sides) && !drafting_after_plain(sides).empty()) {
    heading = trimmed(before);
    return sides;
  }
  static const RE2 both("[^ ].*(?:/|>|\\x{2192})");
  constexpr std::size_t max_heading = 60;  // a longer one is a sentence
  if (heading.size() > max_heading || !RE2::PartialMatch(heading, both)) return "";
  std::vector<std::size_t> begins{0};  // of its words
  for (std::size_t at = heading.find(' '); at != std::string::npos; at = heading.find(' ', at + 1))
    begins.push_back(at + 1);
  for (std::size_t first = 0; first < begins.size(); ++first) {
    for (std::size_t last = begins.size(); last > first; --last) {
      const std::size_t end = last < begins.size() ? begins[last] - 1 : heading.size();
      sides = heading.substr(begins[first], end - begins[first]);
      if (sides.find('(') != std::string::npos || drafting_after_plain(sides).empty()) continue;
      const std::string rest = heading.substr(0, begins[first]) + heading.substr(std::min(end + 1, heading.size()));
      const std::string measure(rest.substr(0, rest.find_last_not_of(" ,:;") + 1));
      if (!is_speed_or_time(column_of(measure).meaning) && !may_be_speed(measure)) continue;
      heading = measure;
      return sides;
    }
  }
  return "";
}

}  // namespace

std::vector<TableRow> with_both_sides(std::span<const Meaning> meanings, std::span<const TableRow> rows) {
  static const RE2 arrow("(.*?)(?:->|\xE2\x86\x92)(.*)"),
      slash("([^/]*?[^/ ]) ?/ ?(\\d[^/]*(?:/[a-z]+)?)", RE2::Latin1);
  const auto names_arm = [](Meaning one) { return one == Meaning::gamma || one == Meaning::name; };
  const bool arms = std::ranges::any_of(meanings, names_arm);
  std::vector<TableRow> apart;
  for (const TableRow& row : rows) {
    TableRow plain = row, drafts = row;
    const auto both =
        std::ranges::find_if(row.cells, [](const auto& one) { return !drafting_after_plain(one).empty(); });
    const bool in_cell = both != row.cells.end() && both->find('/') != std::string::npos;
    bool two = false;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (in_cell && row.cells[i] == *both) {
        plain.cells[i] = "off";
        drafts.cells[i] = drafting_after_plain(*both);
      } else if (names_arm(meanings[i]) && !in_cell) {
        plain.cells[i] = "0";
      } else if (names_rows(meanings[i])) {
        continue;  // "list 1 -> 9" of prompts
      } else if ((in_cell && RE2::FullMatch(row.cells[i], slash, &plain.cells[i], &drafts.cells[i])) ||
                 RE2::FullMatch(row.cells[i], arrow, &plain.cells[i], &drafts.cells[i])) {
        two = true;
      } else if (meanings[i] >= Meaning::length) {  // acceptance
        plain.cells[i].clear();
      }
    }
    if (two && (arms || in_cell)) {
      apart.push_back(std::move(plain));
      apart.push_back(std::move(drafts));
    } else {
      apart.push_back(row);
    }
  }
  return apart;
}

std::string tell_sides(ShapedTable& table, std::string_view caption) {
  static const RE2 bracket(R"((.*)\(([^()]*)\)[\s:*]*)");
  const std::vector<Meaning> meanings = meanings_of(table.headings);
  if (std::ranges::any_of(meanings, [](Meaning one) { return one == Meaning::name || one == Meaning::gamma; }))
    return "";
  std::string before, in_bracket, words;
  if (!drafting_after_plain(caption).empty()) {
    words = caption;
  } else if (RE2::FullMatch(piece(caption), bracket, &before, &in_bracket) &&
             !drafting_after_plain(in_bracket).empty()) {
    words = in_bracket;
  }
  for (std::string& heading : table.headings) {
    if (const std::string of = take_arms(heading); !of.empty()) words = of;
  }
  if (words.empty()) return "";
  const bool slash = words.find('/') != std::string::npos;
  table.headings.emplace_back("config");
  for (TableRow& row : table.rows) row.cells.push_back(slash ? words : drafting_after_plain(words));
  return words;
}

std::vector<std::string> without_sides(std::vector<std::string> headings) {
  for (std::string& heading : headings) take_arms(heading);
  return headings;
}

}  // namespace foredraft::logs
