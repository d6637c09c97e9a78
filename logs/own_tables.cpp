// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "logs/recognizer.hpp"

/// Reads objects of no format whose keys are headings as rows of a table, and lines of no format.
namespace foredraft::logs {
namespace {

/// Limits for records of users' own scripts: keys, and bytes of a cell, beyond which it is left out.
constexpr std::size_t max_record_keys = 64;
constexpr std::size_t max_record_cell = 200;

}  // namespace

/// Keeps an object whose keys are headings of a table. Members of a nested object count as its own, lists are left out;
/// an object with deeper nesting is no record.
void Recognizer::keep_record(const JsonValue& value, std::int64_t line) {
  if (table_format_ == nullptr || !value.is_object() || records_.size() == max_table_rows) return;
  const auto is_scalar = [](const JsonValue& member) { return !member.is_structured(); };
  Record record{.headings = {}, .row = {.cells = {}, .line = line}};
  const auto add = [&](const JsonValue& cell, bool of_drafter = false) {
    if (cell.is_null() || cell.source().size() > max_record_cell || record.headings.size() == max_record_keys) return;
    const std::string heading = of_drafter && cell.key() == "model" ? "draft_model" : cell.key();
    if (std::ranges::find(record.headings, heading) != record.headings.end()) return;
    record.headings.push_back(heading);
    record.row.cells.push_back(cell.is_string() ? cell.string() : std::string(cell.source()));
  };
  bool is_record = true;
  for (const JsonValue& member : value) {
    is_record = is_record && std::ranges::all_of(member, is_scalar);
    if (is_scalar(member)) add(member);
    if (member.is_object())
      std::ranges::for_each(member, [&](const JsonValue& inner) {
        if (is_scalar(inner)) add(inner, member.key().starts_with("spec"));
      });
  }
  is_record =
      is_record && record.headings.size() >= 2 && std::get<TableFormat>(table_format_->reads).claims(record.headings);
  if (is_record) {
    records_.push_back(std::move(record));
  } else {
    ++other_records_;
  }
}

/// Reads the kept records as one table, unless they have too many different keys.
void Recognizer::read_records() {
  Table table{.format = table_format_,
              .csv = nullptr,
              .whole = &std::get<TableFormat>(table_format_->reads),
              .layout = TableLayout::commas,
              .columns = {}};
  for (const Record& record : records_) {
    for (const std::string& heading : record.headings) {
      if (std::ranges::find(table.columns, heading) == table.columns.end()) table.columns.push_back(heading);
    }
    if (table.columns.size() > max_record_keys) return;
  }
  for (Record& record : records_) {
    TableRow row{.cells = std::vector<std::string>(table.columns.size()), .line = record.row.line};
    for (std::size_t i = 0; i < record.headings.size(); ++i) {
      const auto column = std::ranges::find(table.columns, record.headings[i]) - table.columns.begin();
      row.cells[static_cast<std::size_t>(column)] = std::move(record.row.cells[i]);
    }
    table.rows.push_back(std::move(row));
  }
  table_ = std::move(table);
  end_table();
}

void Recognizer::note_caption(std::string_view caption, std::int64_t number, bool of_read_line) {
  passed_captions_.note(caption, number);
  if (of_read_line) captions_.note(caption, number);
}

void Recognizer::end_caption(std::int64_t number) {
  captions_.end(number);
  passed_captions_.end(number);
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
  (alone ? passed_captions_ : captions_).name_runs(contents_);
}

}  // namespace foredraft::logs
