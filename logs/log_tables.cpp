// SPDX-License-Identifier: Apache-2.0
#include "logs/log_tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "core/readable.hpp"
#include "logs/arms.hpp"
#include "logs/expectations.hpp"
#include "logs/headings.hpp"
#include "logs/table_cells.hpp"
#include "logs/table_heads.hpp"
#include "logs/table_shapes.hpp"

namespace foredraft::logs {
namespace {

/// Maximum number of columns of a table in any heading; its cells are repeated for each arm.
constexpr std::size_t max_table_columns = 128;

}  // namespace

LogTables::LogTables(std::span<const LogFormat* const> formats, Findings& findings, RunCaptions& captions)
    : formats_(formats.begin(), formats.end()), findings_(findings), captions_(captions) {
  for (const LogFormat* one : formats_)
    if (std::holds_alternative<TableFormat>(one->reads)) any_heading_ = one;
}

LogTables::Table LogTables::of_any_heading(TableLayout layout, std::vector<std::string> columns,
                                           std::string_view caption) const {
  return {.format = any_heading_,
          .csv = nullptr,
          .whole = &std::get<TableFormat>(any_heading_->reads),
          .layout = layout,
          .columns = std::move(columns),
          .caption = std::string(caption)};
}

/// Begins a list of arms ("- plain: 41") if the line is a title with their unit: "Throughput (tok/s):".
bool LogTables::title(std::string_view line) {
  constexpr std::size_t max_title = 100;
  if (any_heading_ == nullptr || line.size() > max_title || line.find_first_of("|\t") != line.npos) return false;
  std::string measure = measure_in_caption(line);
  if (measure.empty()) return false;
  table_ = of_any_heading(TableLayout::list, {"config", std::move(measure)}, line);
  return true;
}

/// Begins a table whose headings a format claims; true also if they were rejected.
bool LogTables::begin(std::vector<std::string> columns, TableLayout layout, std::string_view caption) {
  const bool too_wide = columns.size() > max_table_columns;
  for (const LogFormat* format : formats_) {
    const auto* const csv = std::get_if<CsvFormat>(&format->reads);
    const auto* const whole = too_wide ? nullptr : std::get_if<TableFormat>(&format->reads);
    if (whole == nullptr && (csv == nullptr || layout != TableLayout::commas || columns.size() < 3)) continue;
    bool sound = false;  // else its rows would repeat the problem of its header
    if (!findings_.taken([&] { return sound = csv != nullptr ? csv->claims(columns) : whole->claims(columns); }))
      continue;
    if (!sound) return true;
    table_ = {.format = format,
              .csv = csv,
              .whole = whole,
              .layout = layout,
              .columns = std::move(columns),
              .caption = std::string(caption)};
    for (std::size_t i = 0; csv != nullptr && i < table_->columns.size(); ++i)
      table_->places.try_emplace(table_->columns[i], i);
    return true;
  }
  return false;
}

void LogTables::header(std::string_view line, std::int64_t number, std::string_view caption, std::string_view above,
                       std::string_view lead) {
  const bool ruled = is_ruling(line) && !above.empty();
  const bool between = ruled && !trimmed(line).starts_with('|');  // bars that enclose the head stand beside empty cells
  const std::size_t count = between ? table_cells(line, TableLayout::bars).size() : 0;
  if (ruled) line = above;
  findings_.line = number;
  const TableLayout layout = between ? TableLayout::bars : layout_of(line);
  std::vector<std::string> columns = table_cells(line, layout, count);
  std::ranges::transform(columns, columns.begin(),
                         [](std::string one) { return with_few_brackets(heading_of_query(std::move(one))); });
  const std::string_view text = trimmed(line);
  const bool item = layout == TableLayout::blanks &&  // of a list, a command
                    (text.starts_with("- ") || (text.starts_with("--") && columns.size() == 2) || text.ends_with('\\'));
  if (item) columns.clear();
  if (!ruled && text.ends_with(':') && title(line)) return;
  if (columns.size() < 2) {
    if (!ruled) title(line);
    return;
  }
  const bool too_wide = columns.size() > max_table_columns;
  if (begin(columns, layout, caption)) {
    if (table_) table_->lead = lead;
    return;
  }
  if (too_wide && layout != TableLayout::commas && unused_.size() < max_problems) {  // no sentence
    unused_.push_back({.line = number,
                       .problem = {.line = number,
                                   .key = columns.front(),
                                   .text = fmt::format("a table of {} columns", columns.size()),
                                   .why = fmt::format("at most {} are read", max_table_columns)}});
  }
  if (!ruled) {
    title(line);
  } else if (any_heading_ != nullptr && !too_wide) {
    table_ = of_any_heading(layout, std::move(columns), caption);
    table_->unclaimed = true;
  }
}

bool LogTables::row(std::string_view line, std::int64_t number, const std::function<bool()>& is_line) {
  findings_.line = number;
  const bool first = std::exchange(table_->at_header, false);
  const bool empty = trimmed(line).empty();
  table_->spaced = table_->spaced || (first && empty);
  if (!std::exchange(table_->after_empty, empty) && empty && table_->spaced) return true;
  if (table_->whole != nullptr) return row_of_whole(line, number, is_line);
  const std::vector<std::string> cells = csv_cells(line);
  if (cells.size() != table_->columns.size()) {
    if (first && cells.size() > 1) {
      warn_once(findings_.contents, "W18", number,
                fmt::format("ignored a table of {} columns whose first row has {} cells", table_->columns.size(),
                            cells.size()));
    }
    table_.reset();
    return false;
  }
  table_->begun = true;
  if (cells != table_->columns) {
    findings_.claimed(*table_->format, [&] {
      table_->csv->row(CsvFields(table_->columns, table_->places, cells, number), findings_.contents);
      return true;
    });
  }
  return true;
}

bool LogTables::row_of_whole(std::string_view line, std::int64_t number, const std::function<bool()>& is_line) {
  if (is_ruling(line)) return true;
  const bool list = table_->layout == TableLayout::list;
  std::vector<std::string> cells = table_cells(line, table_->layout, table_->columns.size());
  if (list && !cells.empty() && !arm_in_text(cells.front()) && !arm_named(cells.front()).plain) cells.clear();
  if (table_->layout == TableLayout::enclosed) join_gains(cells, table_->columns.size());
  const bool cut = table_->layout == TableLayout::enclosed && trimmed(line).starts_with('|') &&
                   !trimmed(line).ends_with('|') && cells.size() > 1 && cells.size() < table_->columns.size();
  if (cut) {
    const bool whole = !table_->rows.empty() && is_whole(cells.back(), table_->rows.back().cells[cells.size() - 1]);
    if (!whole) cells.back().clear();
    cells.resize(table_->columns.size());
  }
  if (cells.size() != table_->columns.size()) {
    end();
    return false;
  }
  if (table_->rows.size() == max_table_rows) {
    Table rest = *table_;
    rest.rows.clear();
    rest.goes_on = true;
    end();
    table_ = std::move(rest);
  }
  if (is_line() || cells == table_->columns) return true;
  const auto has_number = [](const std::string& cell) {
    const std::string text = bare_cell(cell);
    std::string_view rest = text;
    return take_measure(rest).has_value();
  };
  const bool may_be_head = table_->unclaimed || (table_->rows.empty() && may_be_upper_head(table_->columns, cells));
  if (may_be_head && std::ranges::none_of(cells, has_number)) {  // a second one
    Table above = *std::exchange(table_, std::nullopt);
    JoinedHead joined = joined_head(above.columns, cells, above.caption);
    begin(std::move(joined.headings), above.layout, joined.caption);
    if (table_) {
      table_->lead = above.lead;
      return true;
    }
    table_ = std::move(above);
  }
  table_->rows.push_back({.cells = std::move(cells), .line = number});
  return true;
}

void LogTables::end() {
  if (!table_) return;
  const Table table = *std::exchange(table_, std::nullopt);
  if (table.whole == nullptr || table.rows.empty()) return;
  const WrittenTable written{
      .headings = table.columns, .rows = table.rows, .caption = table.caption, .lead = table.lead};
  UnusedTable unused = unused_table(written);
  unused.claimed = !table.unclaimed;
  if (is_above_expected(table.caption)) {
    unused.problem = {.line = unused.line,
                      .key = unused.headings,
                      .text = readable(table.caption, 60),
                      .why = "expected, not measured",
                      .suggestion = "give what was measured"};
    unused_.push_back(std::move(unused));
    return;
  }
  if (table.caption.starts_with('#')) captions_.end(table.rows.front().line, false);  // of an earlier heading
  try {
    const std::size_t before = findings_.contents.observations.size();
    table.whole->read(written, findings_.contents);
    if (findings_.contents.observations.size() == before) {
      if (unused.has_speeds && unused_.size() < max_problems) unused_.push_back(std::move(unused));
      return;
    }
    if (read_.size() < max_told_tables)
      read_.push_back(
          {.first_line = table.rows.front().line, .last_line = table.rows.back().line, .caption = table.caption});
    findings_.claimed(*table.format, [] { return true; });
  } catch (const RejectedRecord& rejected) {
    for (const Problem& problem : rejected.problems()) {  // a long table would repeat them
      const bool told = std::ranges::any_of(unused_, [&](const UnusedTable& one) {
        return one.problem.key == problem.key && one.problem.text == problem.text && one.problem.why == problem.why;
      });
      if (told && table.goes_on) continue;
      unused_.push_back(unused);
      unused_.back().problem = problem;
    }
  }
}

bool LogTables::claims(std::span<const std::string> keys) const {
  return any_heading_ != nullptr && keys.size() >= 2 && std::get<TableFormat>(any_heading_->reads).claims(keys);
}

void LogTables::read(std::vector<JsonRecord> records) {
  Table table = of_any_heading(TableLayout::commas, {}, {});
  constexpr std::size_t max_columns = 64;
  for (const JsonRecord& record : records) {
    for (const std::string& heading : record.headings) {
      if (std::ranges::find(table.columns, heading) == table.columns.end()) table.columns.push_back(heading);
    }
    if (table.columns.size() > max_columns) return;
  }
  for (JsonRecord& record : records) {
    TableRow row{.cells = std::vector<std::string>(table.columns.size()), .line = record.line};
    for (std::size_t i = 0; i < record.headings.size(); ++i) {
      const auto column = std::ranges::find(table.columns, record.headings[i]) - table.columns.begin();
      row.cells[static_cast<std::size_t>(column)] = std::move(record.cells[i]);
    }
    table.rows.push_back(std::move(row));
  }
  table_ = std::move(table);
  end();
}

}  // namespace foredraft::logs
