// SPDX-License-Identifier: Apache-2.0
#include "logs/cell_lists.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

/// Values between slashes or commas.
std::vector<std::string> values_of(std::string_view list) {
  std::vector<std::string> values;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of("/,"), list.size());
    values.emplace_back(trimmed(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return values;
}

/// Takes the loads that the heading of a speed or time lists, in ascending order: 1, 4, 16 of "tok/s at 1/4/16", "tok/s
/// (C1 / C4 / C16)".
std::vector<std::string> take_loads(std::string& heading) {
  constexpr const char* word = "c|conc(?:urrency)?|bs|batch(?: size)?|users?|clients?|streams?|np";
  static const RE2 list(
      std::string(R"((?i)[ (,]*(?:(?:\bat |@ ?)(?:(?:)") + word + R"()[ =:]*)?|\b(?:)" + word +
      R"()[ =:]*)(\d{1,5}(?: ?[/,] ?(?:c|bs|np)?[ =]?\d{1,5})+)(?: (?:users|clients|streams|concurrent(?: requests)?|requests)\b)?\)?)");
  static const RE2 letters("(?i)[a-z= ]+");
  std::string found;
  if (!RE2::PartialMatch(heading, list, &found)) return {};
  RE2::GlobalReplace(&found, letters, "");
  std::vector<std::string> loads = values_of(found);
  constexpr std::size_t most = 16;  // people list fewer
  if (loads.size() > most) return {};
  double before = 0.0;
  for (const std::string& load : loads) {
    const double requests = number_of_cell(load).value.value_or(0.0);
    if (requests <= before) return {};
    before = requests;
  }
  std::string rest = heading;
  RE2::Replace(&rest, list, " ");
  const Meaning meaning = column_of(trimmed(rest)).meaning;
  if (meaning < Meaning::speed || meaning > Meaning::duration) return {};  // "accept @1/2/3": positions
  heading = std::string(trimmed(rest));
  return loads;
}

constexpr const char* of_output = "out(?:put)?|gen\\w*|decode|tg";
constexpr const char* of_everything = "total|all|in\\+out";
constexpr const char* of_prompts = "prefill|prompt|pp";

/// Which of two values is that of the output: 1, 2, or beside one of the prompts 3, 4; 0 if the words do not say.
/// `words` is then "output".
int take_order(std::string& words) {
  static const RE2 first(std::string("(?i)\\b(?:") + of_output + ") ?/ ?(?:" + of_everything + ")\\b");
  static const RE2 second(std::string("(?i)\\b(?:") + of_everything + ") ?/ ?(?:" + of_output + ")\\b");
  static const RE2 third(std::string("(?i)\\b(?:") + of_output + ") ?/ ?(?:" + of_prompts + ")\\b");
  static const RE2 fourth(std::string("(?i)\\b(?:") + of_prompts + ") ?/ ?(?:" + of_output + ")\\b");
  if (RE2::Replace(&words, first, "output")) return 1;
  if (RE2::Replace(&words, second, "output")) return 2;
  return RE2::Replace(&words, third, "output") ? 3 : RE2::Replace(&words, fourth, "output") ? 4 : 0;
}

/// "25.9" of "25.9 / 57.8 out/total", with its unit; beside a value of prompts, with the one of the cell.
void take_output(std::string& cell, int order) {
  static const RE2 both(R"(\W*([\d.,]+) ?/ ?([\d.,]+)(.*))");
  std::string values[2], words;
  const std::string text = bare_cell(cell);
  if (order > 0 && RE2::FullMatch(text, both, &values[0], &values[1], &words))
    cell = values[(order - 1) % 2] + (order > 2 ? words : " tok/s");
}

/// Takes "(mean / median / max)" from a heading: how many values its cells list, and which of them is typical.
std::pair<std::size_t, std::size_t> take_statistics(std::string& heading) {
  static const std::string statistic = "(?:mean|avg|average|median|p\\d\\d|min|max|best|worst|peak)";
  static const RE2 list("(?i)[ ,(\\[]*\\b(" + statistic + "(?: ?/ ?" + statistic + ")+)\\b[)\\]]?");
  static const RE2 typical("(?i)mean|avg|average"), middle("(?i)median|p50");
  std::string names;
  if (!RE2::PartialMatch(heading, list, &names)) return {};
  const std::vector<std::string> values = values_of(names);
  for (const RE2* one : {&typical, &middle}) {
    const auto is_it = [&](const std::string& name) { return RE2::FullMatch(name, *one); };
    const auto found = std::ranges::find_if(values, is_it);
    if (found == values.end()) continue;
    RE2::Replace(&heading, list, "");
    return {values.size(), static_cast<std::size_t>(found - values.begin())};
  }
  return {};
}

/// "63 tok/s -> 80 tok/s" of "1.27x (63 -> 80 tok/s)" and "63 -> 80 tok/s (1.27x)"; false for others, as "63 to 80
/// tok/s" without a gain: a range.
bool take_sides(std::string& cell) {
  static const RE2 sides(
      R"((?i)(?:\W*[\d.]+ ?(?:x|\x{D7})[^\w(]*\()?\W*([\d.,]+) ?(?:t\w*/s|tps)? ?(->|\x{2192}|to) ?~?([\d.,]+) ?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps)(?:[ ,;()].*)?)");
  static const RE2 gain(R"([\d.]+ ?(?:[xX%]|\x{D7}))");
  std::string plain, arrow, drafts;
  const std::string text = bare_cell(cell);
  if (!RE2::FullMatch(text, sides, &plain, &arrow, &drafts)) return false;
  if (arrow == "to" && !RE2::PartialMatch(text, gain)) return false;
  cell = plain + " tok/s -> " + drafts + " tok/s";
  return true;
}

/// "84 t/s" of "n=2, p=0.5 -> 84 t/s".
void take_setting(std::string& cell) {
  static const RE2 setting(
      R"((?i)(?:[a-z_]+ ?= ?[\d.]+[, ]*)+(?:->|\x{2192}) ?([\d.,]+ ?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps)))");
  std::string speed;
  if (RE2::FullMatch(bare_cell(cell), setting, &speed)) cell = speed;
}

}  // namespace

std::vector<std::string> headings_of_lists(std::span<const std::string> headings) {
  std::vector<std::string> plain(headings.begin(), headings.end());
  for (std::string& heading : plain) {
    take_loads(heading);
    take_order(heading);
    take_statistics(heading);
  }
  return plain;
}

ShapedTable with_told_values(std::span<const std::string> headings, std::span<const TableRow> rows) {
  ShapedTable table{.headings = {headings.begin(), headings.end()}, .rows = {rows.begin(), rows.end()}};
  std::vector<int> orders;
  std::vector<std::pair<std::size_t, std::size_t>> statistics;
  for (std::string& heading : table.headings) {
    orders.push_back(take_order(heading));
    statistics.push_back(take_statistics(heading));
  }
  std::vector<bool> sides(headings.size());
  int order = 0;  // of a cell that says it: of all that do not
  for (const TableRow& row : rows) {
    for (std::string cell : row.cells) order = std::max(order, take_order(cell));
  }
  for (TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      take_output(row.cells[i], orders[i] > 0 ? orders[i] : order);
      take_setting(row.cells[i]);
      const std::vector<std::string> values = values_of(bare_cell(row.cells[i]));
      if (statistics[i].first > 0 && values.size() == statistics[i].first) row.cells[i] = values[statistics[i].second];
      sides[i] = take_sides(row.cells[i]) || sides[i];
    }
  }
  const auto is_speed = [](const std::string& heading) {
    const Meaning meaning = column_of(heading).meaning;
    return meaning >= Meaning::speed && meaning <= Meaning::tpot;
  };
  const auto pairs = std::ranges::find(sides, true);
  if (pairs == sides.end() || std::ranges::any_of(table.headings, is_speed)) return table;
  std::string& heading = table.headings[static_cast<std::size_t>(pairs - sides.begin())];
  if (!names_other_speed(heading)) heading = "tok/s";
  return table;
}

ShapedTable by_listed_load(ShapedTable table) {
  std::vector<std::vector<std::string>> lists;
  std::vector<std::string> loads;
  std::vector<bool> measured;
  bool others = false;
  std::vector<std::string> headings = table.headings;
  for (std::string& heading : headings) {
    lists.push_back(take_loads(heading));
    measured.push_back(column_of(heading).meaning >= Meaning::speed);
    others = others || (lists.back().empty() && measured.back());
    for (const std::string& load : lists.back()) {
      if (std::ranges::find(loads, load) == loads.end()) loads.push_back(load);
    }
  }
  const auto is_load = [](const std::string& one) { return column_of(one).meaning == Meaning::concurrency; };
  constexpr std::size_t most_rows = 65'536;
  const bool too_many = table.rows.size() * loads.size() > most_rows;
  if (loads.empty() || too_many || std::ranges::any_of(headings, is_load)) return table;
  ShapedTable by_load{.headings = std::move(headings)};
  if (others) loads.emplace_back();  // the row without a load
  for (const TableRow& row : table.rows) {
    for (const std::string& load : loads) {
      TableRow one = row;
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        if (!measured[i] || (lists[i].empty() && load.empty())) continue;
        const std::vector<std::string> values = values_of(bare_cell(row.cells[i]));
        const auto at = static_cast<std::size_t>(std::ranges::find(lists[i], load) - lists[i].begin());
        one.cells[i] = at < lists[i].size() && values.size() == lists[i].size() ? values[at] : "";
      }
      one.cells.push_back(load);
      by_load.rows.push_back(std::move(one));
    }
  }
  by_load.headings.emplace_back("concurrency");
  return by_load;
}

}  // namespace foredraft::logs
