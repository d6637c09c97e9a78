// SPDX-License-Identifier: Apache-2.0
#include "logs/arm_columns.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>

#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/cell_lists.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

// Alternatives of a regular expression.
constexpr const char* model_families = "vicuna|llama|qwen|mistral|gemma";

/// True if two headings contain a word of an arm, or one begins with "+": a cheap test that rules out most lines.
bool may_name_arms(std::span<const std::string> headings) {
  static const RE2 word(
      R"((?i)(?:^|[^a-z])(?:plain|ar|off|on|none|no|false|yes|true|with|target|non|disabled|enabled|normal|standard|sd|depth|steps?|)" +
      std::string(names_of_plain) + "|" + words_for_without + "|" + model_families + "|" + names_of_drafters +
      "|spec|draft" + R"(|(?:k|n|gamma|n[-_ ]?max) ?[=: -]? ?\d|\d+[- ]?tok))");
  return std::ranges::any_of(headings, [](const std::string& one) { return one.starts_with('+'); }) ||
         std::ranges::count_if(headings, [](const std::string& one) { return RE2::PartialMatch(one, word); }) >= 2;
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// "MTP" and "MTP K=3" are the same arm, if no other begins with "MTP".
void complete_arms(std::vector<std::optional<ArmHeading>>& split) {
  for (auto& one : split) {
    if (!one) continue;
    const std::string begin = one->arm + " ";
    std::vector<std::string> longer;
    for (const auto& other : split) {
      if (longer.size() < 2 && other && other->arm.starts_with(begin)) add_once(longer, other->arm);
    }
    if (longer.size() == 1) one->arm = longer.front();
  }
}

/// The metric of a row: its name, with the unit of its first number if it has one and the name is not enough; without
/// the drafter whose acceptance it is: "MTP draft acceptance rate".
std::string with_unit_of_cells(const TableRow& row) {
  const std::string& name = row.cells.front();
  static const RE2 of_drafter("(?i)(?:" + std::string(names_of_drafters) + ")(?:-?[123])?[ -](.*)");
  std::string of;
  if (RE2::FullMatch(name, of_drafter, &of) && is_acceptance(column_of(of).meaning)) return of;
  if (row.cells.size() < 2 || column_of(headings_of_lists(std::span(&name, 1)).front()).meaning != Meaning::ignored)
    return name;
  const std::string bare = bare_cell(row.cells[1]);
  std::string_view cell = bare;
  return take_number(cell) && cell.find('/') != std::string_view::npos ? name + " " + std::string(trimmed(cell)) : name;
}

/// "baseline tok/s | MTP | EAGLE3": the unit of the only heading that has one is that of the arms beside it.
void share_measure(std::span<const std::string> headings, std::vector<std::optional<ArmHeading>>& split) {
  const auto has_unit = [](const auto& one) { return one.has_value(); };
  if (std::ranges::count_if(split, has_unit) != 1) return;
  const auto first = std::ranges::find_if(split, has_unit);
  if (!is_speed_or_time(column_of((*first)->measure).meaning)) return;
  for (auto at = static_cast<std::size_t>(first - split.begin()) + 1; at < split.size() && is_arm(headings[at]); ++at)
    split[at] = ArmHeading{.arm = headings[at], .measure = split[at - 1]->measure};
}

/// Whether the first column names metrics: its heading says so, or is unknown, and its cells are several metrics.
bool heads_measures(const std::string& heading, std::span<const TableRow> rows) {
  static const RE2 measure(R"((?i)(?:(?:metrics?|measure\w*|quantity|statistic|parameter|what|result)(?: *\(.*\))?)?)");
  if (RE2::FullMatch(heading, measure)) return true;
  std::set<Meaning> measures;
  for (const TableRow& row : rows) {
    const std::string name = with_unit_of_cells(row);
    const Meaning meaning = column_of(headings_of_lists(std::span(&name, 1)).front()).meaning;
    if (is_speed_or_time(meaning) || is_acceptance(meaning)) measures.insert(meaning);
  }
  return column_of(heading).meaning == Meaning::ignored && measures.size() > 1;
}

/// True if the first column names metrics, and at least two others are arms.
bool names_measures(std::span<const std::string> headings, std::span<const TableRow> rows) {
  return headings.size() >= 3 && heads_measures(headings.front(), rows) &&
         std::ranges::count_if(headings.subspan(1), [](const std::string& one) { return is_arm(one); }) >= 2 &&
         (rows.empty() || std::ranges::any_of(rows, [](const auto& row) {
            const std::string name = with_unit_of_cells(row);
            return is_measure(headings_of_lists(std::span(&name, 1)).front());
          }));
}

/// The metric of the cells of arms, by their unit ("130.9 t/s @ 73 %") or by a gain: "96.1 (+52 %)" or "96.1 (1.52x)"
/// right of 63.3 is a speed, "41.6 (1.52x)" a time. Empty if unknown.
std::string measure_of_cells(std::span<const std::size_t> arms, std::span<const TableRow> rows) {
  static const RE2 with_unit(R"([^\w.]*([\d.,]+) ?([a-zA-Z]+/[a-zA-Z]+|ms/\w+|tps)\b.*)");
  static const RE2 with_gain(  // behind an acceptance length: "285 (2.41) (+34 %)"
      R"([^\w.]*([\d.]+)\W*?(?: ?\([\d.]+\) ?)?\(\+?([\d.]+) ?([%xX]|\xC3\x97)\W*\).*)", RE2::Latin1);
  static const RE2 bare_number(R"([^\w.]*([\d.]+)\W*)", RE2::Latin1);
  for (const TableRow& row : rows) {
    double before = 0.0;
    for (const std::size_t arm : arms) {
      std::string number, unit;
      double value = 0.0, gain = 0.0;
      const std::string& cell = row.cells[arm];
      if (RE2::FullMatch(cell, with_unit, &number, &unit) && is_measure(unit)) return unit;
      if (before > 0.0 && RE2::FullMatch(cell, with_gain, &value, &gain, &unit)) {
        const double ratio = unit == "%" ? 1.0 + gain / 100.0 : gain;
        constexpr double rounded = 0.02;
        if (std::abs(value / before - ratio) <= rounded * ratio) return "tok/s";
        if (std::abs(before / value - ratio) <= rounded * ratio) return std::string(measure_of_times);
      }
      if (arm == arms.front() && RE2::FullMatch(cell, bare_number, &value)) before = value;
    }
  }
  return {};
}

/// The metric of the cells of two arms, the plain one first, that agrees with a column of speedups: in a row, if its
/// heading says so, else in all; empty if none does. A "change" whose cells all fall may be one of times.
std::string measure_of_speedups(std::span<const std::string> headings, std::span<const std::size_t> arms,
                                std::span<const TableRow> rows) {
  static const RE2 speedup("(?i)\\W*(?:speed-?up|gain|ratio)\\W*(?:x\\W*)?"), faster("(?i).*(?:speed|gain).*");
  if (arms.size() != 2) return {};
  for (std::size_t at = 0; at < headings.size(); ++at) {
    const bool named = RE2::FullMatch(headings[at], speedup);
    std::size_t speeds = 0, times = 0;
    bool rises = RE2::FullMatch(headings[at], faster);
    if (std::ranges::find(arms, at) != arms.end()) continue;
    for (const TableRow& row : rows) {
      const auto gain = gain_in(row.cells[at]) || !named ? gain_in(row.cells[at]) : measure_in(row.cells[at]).value;
      const auto plain = measure_in(row.cells[arms[0]]).value, drafts = measure_in(row.cells[arms[1]]).value;
      if (!gain || !plain || !drafts || !(*gain > 0.0 && *plain > 0.0 && *drafts > 0.0)) continue;
      constexpr double rounded = 0.02, near_one = 0.05;
      if (std::abs(*gain - 1.0) < near_one) continue;
      rises = rises || *gain > 1.0;
      if (std::abs(*drafts / *plain - *gain) <= rounded * *gain) ++speeds;
      if (std::abs(*plain / *drafts - *gain) <= rounded * *gain) ++times;
    }
    const std::size_t enough = named ? 1 : rows.size();
    if (rises && (speeds >= enough || times >= enough))
      return speeds >= times ? "tok/s" : std::string(measure_of_times);
  }
  return {};
}

/// The column that "+ MTP" adds to: the one left of the first such column, if the gain in a cell is relative to it.
std::optional<std::size_t> column_added_to(std::span<const std::string> headings, std::span<const std::size_t> arms,
                                           std::span<const TableRow> rows) {
  static const RE2 with_gain(R"([^\w.]*([\d.]+)\W*\(\+([\d.]+) ?%\W*\).*)", RE2::Latin1);
  const auto first = std::ranges::find_if(headings, [](const auto& one) { return one.starts_with('+'); });
  if (first - headings.begin() < 2 || first == headings.end()) return std::nullopt;
  const auto before = static_cast<std::size_t>(first - headings.begin()) - 1;
  if (rows.empty()) return before;
  for (const TableRow& row : rows) {
    for (const std::size_t arm : arms) {
      const auto plain = measure_in(row.cells[before]).value;
      double value = 0.0, gain = 0.0;
      constexpr double rounded = 0.01;
      if (plain.value_or(0.0) > 0.0 && RE2::FullMatch(row.cells[arm], with_gain, &value, &gain) && gain > 0.0 &&
          std::abs(value / *plain - 1.0 - gain / 100.0) <= rounded)
        return before;
    }
  }
  return std::nullopt;
}

/// The column headed by a model without a drafter, if all such columns name the same model: "medusa | vicuna",
/// "Qwen-8B + EAGLE3 | Qwen-8B".
std::optional<std::size_t> column_of_model(std::span<const std::string> headings) {
  static const RE2 model("(?i)(?:" + std::string(model_families) + R"()[\w.-]*(?: \d+b)?)");
  const auto is_model = [](const std::string& one) { return RE2::FullMatch(one, model) && !is_arm(one); };
  const auto first = std::ranges::find_if(headings, is_model);
  const auto other = [&](const std::string& one) { return is_model(one) && one != *first; };
  if (first == headings.end() || std::ranges::any_of(headings, other)) return std::nullopt;
  return static_cast<std::size_t>(first - headings.begin());
}

/// "This PR" beside one column without speculation and others with it is another arm that drafts as these do; "ours" is
/// another drafter.
void add_versions(std::span<const std::string> headings, std::vector<std::size_t>& arms,
                  std::vector<std::string>& names) {
  static const RE2 version(
      R"((?i)(?:(?:this|our|my|the|with|after)[ -]){0,2}(?:new )?(?:pr|branch|patch|fork|work|commit|change)(?: ?#?\d+)?)"
      R"(|(ours)(?: ?\([^()]*\))?|new|patched|optimized|main|master|upstream)");
  const auto drafts = [&](std::size_t arm) { return !arm_named(headings[arm]).plain; };
  const auto first = std::ranges::find_if(arms, drafts);
  if (first == arms.end() || std::ranges::count_if(arms, drafts) == std::ssize(arms)) return;
  const std::string drafter = arm_named(headings[*first]).drafter.value_or("speculative");
  for (std::size_t i = 0; i < headings.size(); ++i) {
    std::string ours;
    if (!RE2::FullMatch(headings[i], version, &ours) || in_lower_case(headings[i]) == "change") continue;
    arms.push_back(i);
    if (ours.empty()) names[i] = drafter + ", " + headings[i];
  }
}

/// Headings that name only arms: their metric is that of their cells, else of the caption, else the one that speedups
/// show. The arm without speculation comes first. Splits nothing if the table has other speeds, or only one arm. Throws
/// RejectedRecord if nothing shows the metric.
void split_bare_arms(std::span<const std::string> headings, std::span<const TableRow> rows,
                     std::string_view measure_of_caption, std::vector<std::optional<ArmHeading>>& split) {
  std::vector<std::size_t> arms;
  bool acceptance = false;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const Meaning meaning = column_of(headings[i]).meaning;
    const bool of_request = meaning == Meaning::duration || meaning == Meaning::ttft;  // beside speeds
    if (is_speed_or_time(meaning) && !of_request) return;
    acceptance = acceptance || is_acceptance(meaning);
    if (!is_arm(headings[i])) continue;
    arms.insert(arm_named(headings[i]).plain ? arms.begin() : arms.end(), i);
  }
  std::vector<std::string> names(headings.begin(), headings.end());
  std::optional<std::size_t> base;
  if (!arms.empty() && !arm_named(headings[arms.front()]).plain) {
    base = column_added_to(headings, arms, rows);
    if (!base) base = column_of_model(headings);
  }
  if (base) {
    for (std::size_t i = 0; i < headings.size(); ++i) {
      if (headings[i] != headings[*base]) continue;
      arms.insert(arms.begin(), i);
      names[i] = "baseline (" + headings[i] + ")";
    }
  }
  add_versions(headings, arms, names);
  if (arms.size() < 2) return;
  std::string measure = rows.empty() ? "tok/s" : measure_of_cells(arms, rows);
  if (measure.empty()) measure = measure_of_caption;
  const bool from_plain = arm_named(names[arms.front()]).plain;
  if (measure.empty() && from_plain) measure = measure_of_speedups(headings, arms, rows);
  if (measure.empty() && acceptance && !from_plain) return;
  const auto is_number = [&](const TableRow& row) {
    return std::ranges::any_of(arms, [&](std::size_t arm) { return measure_in(row.cells[arm]).value.has_value(); });
  };
  if (measure.empty() && std::ranges::none_of(rows, is_number)) return;  // words
  if (measure.empty()) {
    const auto is_word = [](const std::string& one) { return one.find(' ') == std::string::npos; };
    const std::string_view unit =
        std::ranges::all_of(headings, is_word) ? "_tps" : " tok/s";  // columns apart by blanks
    reject(
        {.line = rows.front().line,
         .key = headings[arms.front()],
         .text = "may mean several things",
         .why = "a speed, a time or an acceptance?",
         .suggestion = fmt::format("call the columns \"{0}{2}\", \"{1}{2}\", or with TPOT (ms) or AL instead of tok/s",
                                   headings[arms.front()], headings[arms.back()], unit)});
  }
  for (const std::size_t arm : arms) split[arm] = ArmHeading{.arm = names[arm], .measure = measure};
}

/// Whether rows are draft lengths of one setup: each has its own, and all have the same plain run.
bool are_lengths_of_one_setup(std::span<const std::string> headings, std::span<const TableRow> rows,
                              std::span<const std::optional<ArmHeading>> split) {
  std::vector<std::string> lengths, plain;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const bool of_plain = split[i] && arm_named(split[i]->arm).plain;
    const bool is_length = !split[i] && column_of(headings[i]).meaning == Meaning::gamma;
    for (const TableRow& row : rows) {
      if (of_plain) add_once(plain, split[i]->measure + row.cells[i]);
      if (is_length) add_once(lengths, row.cells[i]);
    }
  }
  const auto measures = std::ranges::count_if(split, [](const auto& one) { return one && arm_named(one->arm).plain; });
  return rows.size() > 1 && lengths.size() == rows.size() && measures > 0 &&
         plain.size() == static_cast<std::size_t>(measures);
}

/// A row for each row and arm, if the headings name at least two arms.
std::optional<ShapedTable> rows_by_arm(std::span<const std::string> headings, std::span<const TableRow> rows,
                                       std::string_view measure_of_caption) {
  std::vector<std::optional<ArmHeading>> split;
  std::vector<std::string> arms;
  std::vector<std::string> measures;
  for (const std::string& heading : headings) split.push_back(arm_heading_of(heading));
  share_measure(headings, split);
  complete_arms(split);
  const auto none = [](const auto& one) { return !one.has_value(); };
  if (std::ranges::all_of(split, none) && !names_measures(headings, rows))
    split_bare_arms(headings, rows, measure_of_caption, split);
  for (const auto& one : split) {
    if (!one) continue;
    add_once(arms, one->arm);
    add_once(measures, one->measure);
  }
  if (arms.size() < 2) return std::nullopt;
  ShapedTable table{.headings = {"config"}};
  std::vector<std::size_t> shared;
  std::vector<bool> of_drafts;  // by column in `shared`
  const bool one_setup = are_lengths_of_one_setup(headings, rows, split);
  for (const auto& one : split) {
    if (one && one->arm.starts_with("baseline (")) table.headings.front() = "config (" + one->arm + ")";
  }
  const bool has_category =
      std::ranges::any_of(headings, [](const std::string& one) { return column_of(one).meaning == Meaning::category; });
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const Meaning meaning = column_of(headings[i]).meaning;
    if (split[i] || is_speed_or_time(meaning)) continue;
    shared.push_back(i);
    of_drafts.push_back(is_acceptance(meaning) || meaning == Meaning::gamma);
    const auto is_number = [&](const TableRow& row) { return number_of_cell(row.cells[i]).value.has_value(); };
    const bool repetitions = !rows.empty() && std::ranges::all_of(rows, is_number);  // "1", "2" below "run"
    const bool names_rows = (meaning == Meaning::name && !repetitions) || (i == 0 && headings[i].empty());
    table.headings.push_back(names_rows && one_setup       ? "name of the row"
                             : names_rows && !has_category ? "category"
                                                           : headings[i]);
  }
  table.headings.insert(table.headings.end(), measures.begin(), measures.end());
  // For each arm, the columns of its cells; the number of columns stands for an empty cell. "MTP | base | MTP | base"
  // are repeated runs: two rows for each arm.
  std::vector<std::vector<std::size_t>> columns;
  std::vector<std::string> names;  // of the arms of `columns`
  for (const std::string& arm : arms) {
    const bool plain = arm_named(arm).plain;
    std::vector<std::size_t> of_shared;
    for (std::size_t i = 0; i < shared.size(); ++i)
      of_shared.push_back(of_drafts[i] && plain ? headings.size() : shared[i]);
    std::vector<std::ptrdiff_t> from(measures.size(), 0);  // where the next one of each measure may be
    for (bool found = true; found;) {
      found = false;
      std::vector<std::size_t> of_arm = of_shared;
      for (std::size_t i = 0; i < measures.size(); ++i) {
        const auto of = std::find_if(split.begin() + from[i], split.end(), [&](const auto& cell) {
          return cell && cell->arm == arm && cell->measure == measures[i];
        });
        found = found || of != split.end();
        from[i] = of == split.end() ? std::ssize(split) : of - split.begin() + 1;
        of_arm.push_back(static_cast<std::size_t>(of - split.begin()));
      }
      if (!found) break;
      columns.push_back(std::move(of_arm));
      names.push_back(arm);
    }
  }
  constexpr std::size_t max_cells = 1'000'000;  // those that arms share are repeated
  if (rows.size() * names.size() * table.headings.size() > max_cells) {
    reject({.line = rows.front().line,
            .key = headings.front(),
            .text = fmt::format("a table of {} rows and {} runs in each", rows.size(), names.size()),
            .why = "is too large",
            .suggestion = "give a part of it"});
  }
  for (const TableRow& row : rows) {
    for (std::size_t arm = 0; arm < names.size(); ++arm) {
      TableRow one{.cells = {names[arm]}, .line = row.line};
      for (const std::size_t column : columns[arm])
        one.cells.push_back(column < row.cells.size() ? row.cells[column] : "");
      table.rows.push_back(std::move(one));
    }
  }
  return table;
}

/// Headings of which "SD" is speculative decoding, as another one says: "no-SD", "AR"; else it may be a deviation.
std::vector<std::string> with_speculation(std::span<const std::string> headings) {
  static const RE2 without(R"((?i)(?:.*\b(?:no|non|without|w/o)[- _]?sd\b.*|(?:ar|autoregressive)(?: .*)?))"),
      sd(R"((?i)\bsd\b)");
  std::vector<std::string> told(headings.begin(), headings.end());
  if (std::ranges::none_of(told, [](const std::string& one) { return RE2::FullMatch(one, without); })) return told;
  for (std::string& heading : told) RE2::GlobalReplace(&heading, sd, "spec");
  return told;
}

/// Headings "X" and "X + Y" as those of the run without speculation and of the drafter Y, if all such columns add to
/// the same X. Y is a drafter by its name, or a second model, which its size tells.
std::vector<std::string> with_added_drafters(std::vector<std::string> headings) {
  static const RE2 added(R"((.*\S) ?(?:\+|/w|w/|with) ?(\S.*))");
  static const RE2 model(R"((?i)(?:[\w.-]+[ -])?\d+(?:\.\d+)?[bm](?:[ _-].*)?|.*\bdraft.*)");
  std::vector<std::string> told = headings;
  std::string target, of, drafter;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    if (!RE2::FullMatch(headings[i], added, &of, &drafter)) continue;
    const bool drafts = RE2::FullMatch(drafter, model) || (is_arm(drafter) && !arm_named(drafter).plain);
    if (!drafts || std::ranges::find(headings, of) == headings.end()) continue;
    if (is_arm(of) || (!target.empty() && target != of)) return headings;
    target = of;
    told[i] = is_arm(drafter) ? drafter : "speculative " + drafter;
  }
  std::ranges::replace(told, target, std::string("baseline"));
  return target.empty() ? headings : told;
}

bool names_plain_run(const TableRow& row) { return arm_named(bare_cell(row.cells.front())).plain; }

/// Whether the first column names metrics and no run, and the others are runs of which at most one is an arm.
bool names_measures_of_runs(std::span<const std::string> headings, std::span<const TableRow> rows) {
  const std::size_t least = headings.front().empty() ? 3 : 2;
  return headings.size() >= least && heads_measures(headings.front(), rows) &&
         std::ranges::count_if(headings.subspan(1), is_arm) < 2 &&
         std::ranges::none_of(headings.subspan(1), is_measure) && std::ranges::none_of(rows, names_plain_run) &&
         (rows.empty() ||
          std::ranges::count_if(rows, [](const auto& row) { return is_measure(with_unit_of_cells(row)); }) >= 2);
}

/// Whether a row of metrics holds speeds that only the unit of its cells says, and not those of prompts.
bool holds_speeds(const TableRow& row) {
  static const RE2 other(R"((?i)(?:prefill|prompt (?:proc|eval|speed)|pp(?:\W|\d|$)|ttft|peak|input|encod|kv\b).*)");
  const std::span cells = std::span(row.cells).subspan(1);
  const auto has_number = [](const std::string& cell) { return number_of_cell(cell).value.has_value(); };
  return !RE2::FullMatch(bare_cell(row.cells.front()), other) && !is_measure(with_unit_of_cells(row)) &&
         std::ranges::count_if(cells, has_number) > 1 && std::ranges::all_of(cells, [&](const std::string& cell) {
           return !has_number(cell) || in_tokens_per_s(bare_cell(cell));
         });
}

/// Rows and columns exchanged: a row for each heading that is an arm (`first`: "config"), a run ("category") or a load.
ShapedTable turned(std::span<const std::string> headings, std::span<const TableRow> rows, std::string_view first) {
  ShapedTable table{.headings = {std::string(first)}};
  const bool of_arms = first == "config";
  const auto names_speed = [](const TableRow& row) {
    return is_speed_or_time(column_of(with_unit_of_cells(row)).meaning);
  };
  const bool only = std::ranges::count_if(rows, holds_speeds) == 1 && std::ranges::none_of(rows, names_speed);
  for (const TableRow& row : rows) {
    table.headings.push_back(only && holds_speeds(row) ? "tok/s" : with_unit_of_cells(row));
  }
  for (std::size_t column = 1; column < headings.size(); ++column) {
    if (of_arms ? !is_arm(headings[column]) : is_no_run(headings[column])) continue;
    TableRow one{.cells = {headings[column]}, .line = rows.empty() ? 0 : rows.front().line};
    if (first == "concurrency") one.cells.front() = *load_in_caption(headings[column]);
    static const RE2 no_kind("(?i)(?:values?|results?|measured|numbers?)");
    if (RE2::FullMatch(headings[column], no_kind)) one.cells.front().clear();
    for (const TableRow& row : rows) one.cells.push_back(row.cells[column]);
    table.rows.push_back(std::move(one));
  }
  return table;
}

}  // namespace

bool is_no_run(std::string_view name) {
  static const RE2 other(
      R"((?i).*(?:delta|speed-?up|chang|improve|gain|ratio|diff|\bvs\b|\xCE\x94|note|comment|unit|stage|target)"
      R"(|healthy|broken|expected|threshold|typical|ideal).*|\W*)"
      R"(|(?:min|max|median|std\w*|p\d\d|n|#)\W*)",
      RE2::Latin1);
  return RE2::FullMatch(piece(name), other);
}

std::optional<ShapedTable> table_by_arm(std::span<const std::string> written, std::span<const TableRow> rows,
                                        std::string_view measure) {
  const std::vector<std::string> headings = with_added_drafters(with_speculation(written));
  if (names_measures_of_runs(headings, rows)) {
    const bool of_loads = std::ranges::all_of(
        written.subspan(1), [](const std::string& one) { return is_no_run(one) || load_in_caption(one); });
    return turned(headings, rows, of_loads ? "concurrency" : "category");
  }
  if (!may_name_arms(headings)) return std::nullopt;
  if (auto by_arm = rows_by_arm(headings, rows, measure)) return by_arm;
  return names_measures(headings, rows) ? std::optional(turned(headings, rows, "config")) : std::nullopt;
}

bool names_arms(std::span<const std::string> headings) { return table_by_arm(headings, {}, {}).has_value(); }

}  // namespace foredraft::logs
