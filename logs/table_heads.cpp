// SPDX-License-Identifier: Apache-2.0
#include "logs/table_heads.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>

#include "logs/arm_columns.hpp"
#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

/// A heading of a group: "GSM8K" and "tok/s".
struct GroupHeading {
  std::string group = {}, measure = {};
};

/// Whether words may name a data set: no arm, load or statistic, and nothing that other columns measure.
bool may_be_group(const std::string& words) {
  static const RE2 other(
      R"((?i)\W*(?:(?:p\d\d?|min|max|median|std\w*|best|worst|peak|first|last|before|after|total|sum|aggregate|decode|generation|gen)"
      R"(|output|out|input|old|new|prev\w*|current|main|request|user|e2e|end[- ]to[- ]end|wall|effective|raw|net|server|client|n|k|runs?)\b.*|\d[\d.,]*x?)?\W*)");
  return !RE2::FullMatch(words, other) && !names_other_speed(words) && !arm_in_text(words) && !is_arm(words) &&
         !load_in_caption(words) && column_of(words).meaning == Meaning::ignored;
}

bool is_mean(const std::string& words) {
  static const RE2 mean("(?i)\\W*(?:overall|all|mean|avg\\.?|average)\\W*");
  return RE2::FullMatch(words, mean);
}

std::optional<GroupHeading> group_heading_of(const std::string& heading) {
  static const RE2 bracketed(R"((.*?)\s*[(\[]([^()\[\]]*)[)\]])");
  const auto split = [](const std::string& group, const std::string& measure) {
    return is_measure(measure) && (is_mean(group) || may_be_group(group))
               ? std::optional(GroupHeading{.group = group, .measure = measure})
               : std::nullopt;
  };
  for (std::size_t at = heading.find(' '); at != std::string::npos; at = heading.find(' ', at + 1)) {
    if (auto of = split(heading.substr(0, at), heading.substr(at + 1))) return of;  // "GSM8K throughput (tok/s)"
  }
  std::string before, inside;
  if (!RE2::FullMatch(heading, bracketed, &before, &inside)) return std::nullopt;
  if (auto of = split(inside, before)) return of;  // "tok/s (GSM8K)"
  return split(before, inside);                    // "GSM8K (tok/s)"
}

/// The groups by column, if at least two of them, besides a mean, have the same metrics; else empty. A single metric
/// is that of speeds.
std::vector<std::optional<GroupHeading>> groups_of(std::span<const std::string> headings) {
  std::vector<std::optional<GroupHeading>> split;
  std::vector<std::string> groups, measures;
  std::set<std::pair<std::string, std::string>> pairs;
  bool arms = headings.front().empty();  // of which something has to tell the rows
  for (const std::string& heading : headings) {
    const auto of = split.emplace_back(group_heading_of(bare_cell(heading)));
    const Meaning meaning = column_of(bare_cell(heading)).meaning;
    arms = arms || meaning == Meaning::name || meaning == Meaning::gamma;
    if (!of && (is_speed_or_time(meaning) || is_acceptance(meaning) || is_arm(heading))) return {};
    if (!of) continue;
    if (!pairs.emplace(of->group, of->measure).second) return {};
    if (std::ranges::find(groups, of->group) == groups.end()) groups.push_back(of->group);
    if (std::ranges::find(measures, of->measure) == measures.end()) measures.push_back(of->measure);
  }
  const auto named = std::ranges::count_if(groups, [](const std::string& one) { return !is_mean(one); });
  const bool speeds =
      std::ranges::any_of(measures, [](const std::string& one) { return is_speed_or_time(column_of(one).meaning); });
  if (named < 2 || !speeds || !arms || pairs.size() != groups.size() * measures.size()) return {};
  return split;
}

/// Whether a head has words above at most one of several columns.
bool may_be_title(std::span<const std::string> headings) {
  return headings.size() > 2 &&
         std::ranges::count_if(headings, [](const std::string& one) { return !bare_cell(one).empty(); }) <= 1;
}

}  // namespace

bool may_be_upper_head(std::span<const std::string> headings, std::span<const std::string> below) {
  if (may_be_title(headings)) return true;
  for (std::size_t i = 1; i < headings.size() && i < below.size(); ++i) {
    if (bare_cell(headings[i]).empty() && is_measure(bare_cell(below[i]))) return true;
  }
  return false;
}

JoinedHead joined_head(std::span<const std::string> upper, std::span<const std::string> lower,
                       std::string_view caption) {
  JoinedHead joined{.headings = {lower.begin(), lower.end()}, .caption = std::string(caption)};
  std::ranges::transform(joined.headings, joined.headings.begin(), with_few_brackets);
  if (may_be_title(upper)) {
    const auto title = std::ranges::find_if(upper, [](const std::string& one) { return !bare_cell(one).empty(); });
    if (title != upper.end()) joined.caption = bare_cell(*title) + (caption.empty() ? "" : " ") + joined.caption;
    return joined;
  }
  std::string group;
  std::set<std::string> groups;
  const std::vector<std::string> alone = joined.headings;
  for (std::size_t i = 0; i < lower.size() && i < upper.size(); ++i) {
    const std::string above = bare_cell(upper[i]), below = bare_cell(alone[i]);
    if (!above.empty()) group = above;
    if (below.empty()) {  // an unknown heading of a first column says less than none
      if (column_of(above).meaning != Meaning::ignored) joined.headings[i] = above;
      group.clear();
    } else if (!group.empty()) {
      joined.headings[i] = fmt::format("{} {}", group, below);
      groups.insert(group);
    }
  }
  for (std::size_t i = 0; i < alone.size() && groups.size() == 1; ++i) {
    if (!bare_cell(alone[i]).empty()) joined.headings[i] = alone[i];
  }
  return joined;
}

bool names_groups(std::span<const std::string> headings) { return !groups_of(headings).empty(); }

std::optional<ShapedTable> table_by_group(std::span<const std::string> headings, std::span<const TableRow> rows) {
  const auto split = groups_of(headings);
  if (split.empty()) return std::nullopt;
  ShapedTable table;
  std::vector<std::string> groups, measures;
  std::vector<std::size_t> shared;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    if (!split[i]) {
      shared.push_back(i);
      table.headings.push_back(headings[i]);
      continue;
    }
    if (std::ranges::find(groups, split[i]->group) == groups.end()) groups.push_back(split[i]->group);
    if (std::ranges::find(measures, split[i]->measure) == measures.end()) measures.push_back(split[i]->measure);
  }
  table.headings.emplace_back("category");
  table.headings.insert(table.headings.end(), measures.begin(), measures.end());
  const auto mean = std::ranges::find_if(groups, is_mean);
  if (mean != groups.end()) groups = {*mean};
  for (const TableRow& row : rows) {
    for (const std::string& group : groups) {
      TableRow one{.cells = {}, .line = row.line};
      for (const std::size_t column : shared) one.cells.push_back(row.cells[column]);
      one.cells.push_back(is_mean(group) ? "" : group);
      for (const std::string& measure : measures) {
        const auto of = std::ranges::find_if(
            split, [&](const auto& cell) { return cell && cell->group == group && cell->measure == measure; });
        one.cells.push_back(row.cells[static_cast<std::size_t>(of - split.begin())]);
      }
      table.rows.push_back(std::move(one));
    }
  }
  return table;
}

std::vector<std::string> tell_rows_of_lengths(ShapedTable& table, std::string& caption) {
  static const RE2 length(R"((?i)(?:k|gamma|\x{3B3}|n[-_ ]?max|depth|num[-_ ]?spec\w*[-_ ]?tokens) ?[=: ] ?(\d{1,2}))");
  const std::string first = bare_cell(table.headings.front());
  const auto load = load_in_caption(first);
  if (!first.empty() && !load) return {};
  std::set<int> lengths;
  std::vector<std::string> others;
  for (const TableRow& row : table.rows) {
    const std::string cell = bare_cell(row.cells.front());
    int tokens = 0;
    if (RE2::FullMatch(cell, length, &tokens)) {
      lengths.insert(tokens);
    } else if (!arm_named(cell).plain) {
      others.push_back(cell);
    }
  }
  if (lengths.size() < 2) return {};
  if (load && !load_in_caption(caption)) caption += " concurrency " + *load;
  table.headings.front() = "K";
  std::erase_if(table.rows, [&](const TableRow& row) {
    return std::ranges::find(others, bare_cell(row.cells.front())) != others.end();
  });
  for (TableRow& row : table.rows) {
    std::string tokens;
    if (RE2::FullMatch(bare_cell(row.cells.front()), length, &tokens)) row.cells.front() = tokens;
  }
  return others;
}

namespace {

/// What the name of a row measures, with or without the arm that it names: "AL, K=3".
Meaning meaning_of_row(const std::string& name) {
  const Meaning meaning = column_of(name).meaning;
  return meaning == Meaning::ignored ? column_of(without_arm(name)).meaning : meaning;
}

/// Whether a row of arms is one of a metric: of acceptance, or of another speed or time, or a gain, without an arm.
bool is_metric_row(const TableRow& row) {
  const std::string name = bare_cell(row.cells.front());
  const Meaning meaning = meaning_of_row(name);
  return is_acceptance(meaning) ||
         ((is_speed_or_time(meaning) || is_no_run(name)) && !arm_in_text(name) && !arm_named(name).plain);
}

/// The only row of arms that drafts, of those that the name of a metric names; empty: none or several.
std::string arm_of_metric(std::string_view metric, std::span<const TableRow> arms) {
  const Arm named = arm_in_text(metric).value_or(Arm{});
  std::set<std::string> found;
  for (const TableRow& row : arms) {
    const Arm arm = arm_named(bare_cell(row.cells.front()));
    if (!arm.plain && (!named.gamma || named.gamma == arm.gamma) && (!named.drafter || named.drafter == arm.drafter))
      found.insert(row.cells.front());
  }
  return found.size() == 1 ? *found.begin() : std::string();
}

/// The column with this heading, which is added if there is none.
std::size_t column_with(const std::string& heading, ShapedTable& table) {
  const auto found = std::ranges::find(table.headings, heading);
  const auto at = static_cast<std::size_t>(found - table.headings.begin());
  if (found == table.headings.end()) {
    table.headings.push_back(heading);
    for (TableRow& row : table.rows) row.cells.emplace_back();
  }
  return at;
}

}  // namespace

std::vector<std::string> tell_rows_of_metrics(ShapedTable& table) {
  const auto arms = std::stable_partition(table.rows.begin(), table.rows.end(), std::not_fn(is_metric_row));
  const std::vector<TableRow> metrics(arms, table.rows.end());
  const auto is_plain = [](const TableRow& row) { return arm_named(bare_cell(row.cells.front())).plain; };
  if (std::none_of(table.rows.begin(), arms, is_plain)) return {};
  table.rows.erase(arms, table.rows.end());
  const auto key = static_cast<std::ptrdiff_t>(table.headings.size()) - 1;  // behind it, the measure
  std::vector<std::string> others;
  for (const TableRow& metric : metrics) {
    const std::string name = bare_cell(metric.cells.front());
    const Meaning meaning = meaning_of_row(name);
    const std::string arm = is_acceptance(meaning) ? arm_of_metric(name, table.rows) : std::string();
    if (arm.empty()) {
      if (others.empty() || others.back() != name) others.push_back(name);
      continue;
    }
    const std::size_t column = column_with(meaning == Meaning::length ? "acceptance length"
                                           : meaning == Meaning::rate ? "acceptance rate"
                                                                      : name,
                                           table);
    for (TableRow& row : table.rows) {
      if (row.cells.front() == arm &&
          std::equal(row.cells.begin() + 1, row.cells.begin() + key, metric.cells.begin() + 1))
        row.cells[column] = metric.cells[static_cast<std::size_t>(key)];
    }
  }
  return others;
}

namespace {

constexpr const char* change_heading =
    R"((?i)(?:(before)|after)((?:[ _,]*\(?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps|tpot.*|ms.*)\)?)?))";

}  // namespace

bool may_name_change(std::span<const std::string> headings) {
  static const RE2 change(change_heading);
  std::size_t before = 0, after = 0;
  for (const std::string& one : headings) {
    std::string first, unit;
    if (RE2::FullMatch(bare_cell(one), change, &first, &unit)) ++(first.empty() ? after : before);
  }
  return headings.size() > 2 && before == 1 && after == 1;
}

bool tell_change(ShapedTable& table, std::string_view caption) {
  static const RE2 change(change_heading);
  static const RE2 drafter(R"((?i)(?:draft(?:er)?(?: model)?|assistant(?: model)?|mtp head|speculator))");
  static const RE2 added(
      R"((?i)\b(?:add\w*|enabl\w+|turn\w* on|switch\w* on|introduc\w+|before\W+after|before and after|using|with)\b[^.;]{0,40}?\b(?:)" +
      std::string(names_of_drafters) + R"(|spec\w*|draft\w*))");
  static const RE2 of_drafting(  // a change of what drafts already
      R"((?i)\b(?:kernels?|graphs?|fix\w*|optimi\w+|faster|batched|fused|patch\w*|quanti\w+|v\d)\b)");
  if (!may_name_change(table.headings)) return false;
  const bool names_drafter = std::ranges::any_of(
      table.headings, [](const std::string& one) { return RE2::FullMatch(bare_cell(one), drafter); });
  const re2::StringPiece above = piece(caption);
  if (RE2::PartialMatch(above, of_drafting) || (!names_drafter && !RE2::PartialMatch(above, added))) return false;
  for (std::string& heading : table.headings) {
    std::string first, unit;
    if (RE2::FullMatch(bare_cell(heading), drafter)) heading = "model";  // tells rows apart
    if (RE2::FullMatch(bare_cell(heading), change, &first, &unit))
      heading = (first.empty() ? "speculative" : "baseline") + unit;
  }
  return true;
}

}  // namespace foredraft::logs
