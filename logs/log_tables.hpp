// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/captions.hpp"
#include "logs/findings.hpp"
#include "logs/json_records.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/record_fields.hpp"
#include "logs/setups.hpp"
#include "logs/unused_tables.hpp"

/// Offers the tables of a log, line by line, to their formats.
namespace foredraft::logs {

/// Maximum number of rows that are read as one table.
inline constexpr std::size_t max_table_rows = 10'000;

class LogTables {
 public:
  /// Tables of `formats`, which must live as long as `findings` and `captions`: longer than this.
  LogTables(std::span<const LogFormat* const> formats, Findings& findings, RunCaptions& captions);

  /// Begins a table if the line is the header of one, or the ruling below the head `above` of one in Markdown;
  /// `caption`: the line above it; `lead`: as of Recognizer::line().
  void header(std::string_view line, std::int64_t number, std::string_view caption, std::string_view above,
              std::string_view lead);
  [[nodiscard]] bool in_table() const { return table_.has_value(); }
  [[nodiscard]] bool has_rows() const { return table_ && (table_->begun || !table_->rows.empty()); }
  /// The next line in a table; false if the table ended before it: it may be anything. `is_line`: whether it is a line
  /// of a format, no row.
  bool row(std::string_view line, std::int64_t number, const std::function<bool()>& is_line);
  /// Reads the table that the log's end ends.
  void end();

  /// Whether objects with these keys are rows of a table.
  [[nodiscard]] bool claims(std::span<const std::string> keys) const;
  /// Reads records as one table, unless they have too many different keys.
  void read(std::vector<JsonRecord> records);

  /// Those of which runs were read.
  [[nodiscard]] std::span<const ReadTable> read_tables() const { return read_; }
  [[nodiscard]] bool has_unused() const { return !unused_.empty(); }
  /// Keeps the runs of different tables apart, and warns of tables of which nothing was read.
  void keep_apart() const { keep_tables_apart(read_, findings_.contents); }
  void tell_unused() const { tell_unused_tables(unused_, findings_.contents, findings_.problems); }

 private:
  struct Table {
    const LogFormat* format;
    const CsvFormat* csv;  ///< null: `whole` reads it
    const TableFormat* whole;
    TableLayout layout;
    std::vector<std::string> columns;
    ColumnPlaces places = {};         ///< of `columns`, for `csv`
    std::string caption = {};         ///< the line above it
    std::string lead = {};            ///< as of WrittenTable
    bool begun = false;               ///< has rows
    bool at_header = true;            ///< no line after its header was read yet
    bool goes_on = false;             ///< the rest of one with more than max_table_rows
    bool spaced = false;              ///< an empty line follows its header: skip single ones
    bool after_empty = false;         ///< the last line was empty
    bool unclaimed = false;           ///< its head says nothing that is known
    std::vector<TableRow> rows = {};  ///< of `whole`
  };

  [[nodiscard]] Table of_any_heading(TableLayout layout, std::vector<std::string> columns,
                                     std::string_view caption) const;
  bool title(std::string_view line);
  bool begin(std::vector<std::string> columns, TableLayout layout, std::string_view caption);
  bool row_of_whole(std::string_view line, std::int64_t number, const std::function<bool()>& is_line);

  std::vector<const LogFormat*> formats_ = {};
  const LogFormat* any_heading_ = nullptr;  ///< the TableFormat
  Findings& findings_;
  RunCaptions& captions_;
  std::optional<Table> table_ = {};
  std::vector<ReadTable> read_ = {};      ///< of `any_heading_`
  std::vector<UnusedTable> unused_ = {};  ///< tables of which nothing was read
};

}  // namespace foredraft::logs
