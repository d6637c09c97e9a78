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
namespace {

/// Limits for records of users' own scripts: keys, and bytes of a cell, beyond which it is left out.
constexpr std::size_t max_record_keys = 64;
constexpr std::size_t max_record_cell = 200;

}  // namespace

/// An object as a row: members of a nested object count as its own, lists are left out but those of positions. Nullopt
/// if it is nested deeper, or its keys are no headings of a table.
std::optional<Recognizer::Record> Recognizer::record_of(const JsonValue& value, std::int64_t line) const {
  const auto is_scalar = [](const JsonValue& member) { return !member.is_structured(); };
  Record record{.headings = {}, .row = {.cells = {}, .line = line}};
  const auto add = [&](const std::string& heading, std::string cell) {
    if (cell.size() > max_record_cell || record.headings.size() == max_record_keys) return;
    if (std::ranges::find(record.headings, heading) != record.headings.end()) return;
    record.headings.push_back(heading);
    record.row.cells.push_back(std::move(cell));
  };
  const auto add_scalar = [&](const JsonValue& cell, bool of_drafter) {
    if (!is_scalar(cell) || cell.is_null()) return;
    add(of_drafter && cell.key() == "model" ? "draft_model" : cell.key(),
        cell.is_string() ? cell.string() : std::string(cell.source()));
  };
  for (const JsonValue& member : value) {
    if (!std::ranges::all_of(member, is_scalar)) return std::nullopt;
    add_scalar(member, false);
    if (member.is_object())
      std::ranges::for_each(member,
                            [&](const JsonValue& inner) { add_scalar(inner, member.key().starts_with("spec")); });
    if (!member.is_array() || column_of(member.key()).meaning != Meaning::positions) continue;
    std::string list;
    for (const JsonValue& share : member)
      list += (list.empty() ? "" : " / ") + std::string(share.source().substr(0, 9));
    add(member.key(), std::move(list));
  }
  const bool claims =
      record.headings.size() >= 2 && std::get<TableFormat>(table_format_->reads).claims(record.headings);
  return claims ? std::optional(std::move(record)) : std::nullopt;
}

/// Keeps an object whose keys are headings of a table, or the runs in it by their names.
void Recognizer::keep_record(const JsonValue& value, std::int64_t line, bool in_list) {
  if (table_format_ == nullptr || !value.is_object() || records_.size() == max_table_rows) return;
  std::vector<Record> named;
  std::size_t objects = 0;
  std::int64_t at = line;
  const char* counted_to = value.source().data();
  for (const JsonValue& member : value) {
    if (!member.is_object()) continue;
    ++objects;
    at += std::count(counted_to, member.source().data(), '\n');
    counted_to = member.source().data();
    auto record = named.size() == max_table_rows ? std::nullopt : record_of(member, at);
    if (!record) break;
    if (column_of(record->headings.front()).meaning != Meaning::name) {
      record->headings.insert(record->headings.begin(), "name");
      record->row.cells.insert(record->row.cells.begin(), member.key());
    }
    named.push_back(*std::move(record));
  }
  if (named.size() > 1 && named.size() == objects && records_.size() + objects <= max_table_rows) {
    std::ranges::move(named, std::back_inserter(records_));
  } else if (auto record = in_list ? record_of(value, line) : std::nullopt) {
    records_.push_back(*std::move(record));
  } else if (in_list) {
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
