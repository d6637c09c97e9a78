// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "logs/headings.hpp"
#include "logs/recognizer.hpp"

/// Reads objects of no format whose keys are headings as rows of a table, and lines of no format.
namespace foredraft::logs {
/// Keeps the objects of a value whose keys are headings of a table.
void Recognizer::keep_records(const JsonValue& value, std::int64_t line) {
  if (table_format_ == nullptr) return;
  const std::size_t before = records_.size();
  for (JsonRecord& record : records_in(value, line, max_table_rows - before)) {
    const bool claims =
        record.headings.size() >= 2 && std::get<TableFormat>(table_format_->reads).claims(record.headings);
    if (claims) records_.push_back(std::move(record));
  }
  if (records_.size() == before) ++other_records_;
}

/// Reads the kept records as one table, unless they have too many different keys.
void Recognizer::read_records() {
  Table table{.format = table_format_,
              .csv = nullptr,
              .whole = &std::get<TableFormat>(table_format_->reads),
              .layout = TableLayout::commas,
              .columns = {}};
  constexpr std::size_t max_columns = 64;
  for (const JsonRecord& record : records_) {
    for (const std::string& heading : record.headings) {
      if (std::ranges::find(table.columns, heading) == table.columns.end()) table.columns.push_back(heading);
    }
    if (table.columns.size() > max_columns) return;
  }
  for (JsonRecord& record : records_) {
    TableRow row{.cells = std::vector<std::string>(table.columns.size()), .line = record.line};
    for (std::size_t i = 0; i < record.headings.size(); ++i) {
      const auto column = std::ranges::find(table.columns, record.headings[i]) - table.columns.begin();
      row.cells[static_cast<std::size_t>(column)] = std::move(record.cells[i]);
    }
    table.rows.push_back(std::move(row));
  }
  table_ = std::move(table);
  end_table();
}

/// Names runs; if no format recognized anything, those of lines that say too little beside others.
void Recognizer::name_by_captions() {
  const bool alone = contents_.format.empty() && contents_.observations.empty() && problems_.empty() &&
                     unused_.empty() && resembled_ == nullptr && broken_line_ == 0;
  if (alone) noted_ = nullptr;
  for (const Lines& of : line_formats_) {
    if (alone && contents_.observations.empty()) of.reader->finish_alone(contents_);
    if (alone && contents_.format.empty() && !contents_.observations.empty()) note_format(*of.format);
  }
  captions_.name_runs(contents_, alone);
}

}  // namespace foredraft::logs
