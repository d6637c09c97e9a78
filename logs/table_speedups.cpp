// SPDX-License-Identifier: Apache-2.0
#include "logs/table_speedups.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

/// The columns of a plain speed and of the speedup over it, if the table has no other speed.
struct SpeedupColumns {
  std::size_t plain = 0, gain = 0;

  /// Of a row: 1.5 of "1.5x", "+50 %" and "1.5".
  [[nodiscard]] std::optional<double> gain_of(const TableRow& row) const {
    const auto stated = gain_in(row.cells[gain]);
    return stated ? stated : number_of_cell(row.cells[gain]).value;
  }
};

/// Whether another cell of the row is the drafting speed, whatever its heading says.
bool has_speed(const TableRow& row, const SpeedupColumns& columns) {
  constexpr double rounded = 0.02;
  const double faster = measure_in(row.cells[columns.plain]).value.value_or(0.0) * columns.gain_of(row).value_or(0.0);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto value = i == columns.plain || i == columns.gain ? std::nullopt : measure_in(row.cells[i]).value;
    if (value && std::abs(*value - faster) <= rounded * faster) return true;
  }
  return false;
}

std::optional<SpeedupColumns> speedup_columns(std::span<const std::string> headings) {
  static const RE2 speed(R"((?i)(.*?)[ _(\[]+(?:decode )?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps)[)\]]?)");
  static const RE2 speedup(
      R"((?i)(?:(?:measured|observed|real|net|wall(?:[- ]clock)?|end[- ]to[- ]end|e2e|decode|overall|actual) )?speed-?up(?: factor)?)"
      R"((?: ?\((?:x|\x{d7})\))?(?: (?:vs\.?|over) (?:the )?(?:plain|base(?:line)?|ar|vanilla))?)");
  std::optional<std::size_t> plain, gain;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const std::string heading = bare_cell(headings[i]);
    std::string arm;
    if (RE2::FullMatch(heading, speedup)) {
      if (std::exchange(gain, i)) return std::nullopt;
    } else if (RE2::FullMatch(heading, speed, &arm)) {
      if (!arm_named(arm).plain || std::exchange(plain, i)) return std::nullopt;
    } else if (const Meaning meaning = column_of(heading).meaning; is_speed_or_time(meaning)) {
      return std::nullopt;
    }
  }
  return plain && gain ? std::optional(SpeedupColumns{.plain = *plain, .gain = *gain}) : std::nullopt;
}

}  // namespace

std::optional<ShapedTable> table_over_plain(std::span<const std::string> headings, std::span<const TableRow> rows) {
  static const RE2 over(R"((?i)(?:vs\.?|versus|over|than) ~?([\d.]+) ?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps)\b.*)");
  constexpr double rounded = 0.05;
  double plain = 0.0;
  const auto of_gains = std::ranges::find_if(
      headings, [&](const std::string& one) { return RE2::FullMatch(bare_cell(one), over, &plain); });
  const auto gains = static_cast<std::size_t>(of_gains - headings.begin());
  std::size_t speeds = 0;
  while (speeds < headings.size() && !holds_speeds(rows, speeds)) ++speeds;
  if (gains == headings.size() || speeds == headings.size() || !(plain > 0.0)) return std::nullopt;
  ShapedTable table{.headings = {headings.begin(), headings.end()}};
  table.headings[gains] = "config";
  for (const TableRow& row : rows) {
    const auto speed = measure_in(row.cells[speeds]).value, gain = gain_in(row.cells[gains]);
    if (speed && gain && std::abs(*speed / plain - *gain) > rounded * *gain) return std::nullopt;
    for (const bool drafts : {false, true}) {
      table.rows.push_back(row);
      table.rows.back().cells[gains] = drafts ? "speculative" : "baseline";
      if (!drafts) table.rows.back().cells[speeds] = fmt::format("{} t/s", plain);
    }
  }
  return table;
}

bool names_speedups(std::span<const std::string> headings) { return speedup_columns(headings).has_value(); }

std::optional<ShapedTable> table_by_speedup(std::span<const std::string> headings, std::span<const TableRow> rows) {
  const auto columns = speedup_columns(headings);
  if (!columns || std::ranges::any_of(rows, [&](const TableRow& row) { return has_speed(row, *columns); }))
    return std::nullopt;
  const std::vector<Meaning> meanings = meanings_of(headings);
  ShapedTable table{.headings = {headings.begin(), headings.end()}};
  const auto name = std::ranges::find(meanings, Meaning::name);
  const std::size_t arm = name == meanings.end() ? columns->plain : static_cast<std::size_t>(name - meanings.begin());
  if (arm == columns->plain) table.headings[arm] = "config";
  table.headings[columns->gain] = fmt::format("tok/s ({} x {})", headings[columns->plain], headings[columns->gain]);
  for (const TableRow& row : rows) {
    const auto plain = measure_in(row.cells[columns->plain]).value;
    const auto gain = columns->gain_of(row);
    for (const bool drafts : {false, true}) {
      TableRow& one = table.rows.emplace_back(row);
      if (!drafts || arm == columns->plain) one.cells[arm] = drafts ? "speculative" : "baseline";
      one.cells[columns->gain].clear();
      if (plain && gain) one.cells[columns->gain] = fmt::format("{:.6g}", drafts ? *plain * *gain : *plain);
      for (std::size_t i = 0; i < meanings.size() && !drafts; ++i) {
        if (meanings[i] == Meaning::gamma || is_acceptance(meanings[i])) one.cells[i].clear();
      }
    }
  }
  return table;
}

}  // namespace foredraft::logs
