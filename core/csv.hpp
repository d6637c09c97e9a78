// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"

/// CSV by RFC 4180, except that lines end with \n and cells contain no line breaks.
namespace foredraft {

/// `text` as a cell, quoted if it contains a comma or a quote. Line breaks become spaces. Text that a spreadsheet would
/// interpret as a formula (starts with = + - @ or a tab and is neither a number nor "-") gets a leading apostrophe.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// The header line with its line end. Throws std::logic_error for a duplicate name.
[[nodiscard]] std::string csv_header(const std::vector<std::string>& names);

/// The cells of a line (without line end); nullopt if a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> split_csv_line(std::string_view line);

/// Builds CSV text from rows of numbers and words. Missing values are empty cells.
class DataText {
 public:
  explicit DataText(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Starts a row; append its cells from left to right.
  DataText& row();
  DataText& cell(std::string_view text) { return add(csv_cell(text)); }
  DataText& cell(double number) { return add(number_text(number)); }
  DataText& cell(std::optional<double> number) { return add(number ? number_text(*number) : ""); }
  /// Two cells: mean and standard error, or two empty ones.
  DataText& cell(const std::optional<Estimate>& estimate);

  /// The whole text. Throws std::logic_error when a row has the wrong number of cells.
  [[nodiscard]] std::string csv() const;

 private:
  DataText& add(std::string cell);

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The header of a table.
struct CsvHeader {
  std::vector<std::string> names;
  /// Index of a column; nullopt if absent.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Reads a CSV file in a results folder row by row.
class CsvReader {
 public:
  /// Throws RunError for a file that cannot be read or has no header.
  explicit CsvReader(const std::string& path);

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const { return header_.column(name); }

  /// Reads the next row; false at the end. Throws RunError `file:line: ...` for a row with an open quote or another
  /// number of cells.
  bool next(std::vector<std::string>& cells);

 private:
  std::string path_;
  ResultReader file_;
  CsvHeader header_;
  std::string line_;
  std::size_t line_number_ = 1;
};

/// The first twenty problems of a file and the number of the others.
class FirstProblems {
 public:
  explicit FirstProblems(std::string file) : problems_(std::move(file)) {}

  void add(Problem problem);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Throws InputError unless empty.
  void raise();

 private:
  ProblemList problems_;
  std::size_t count_ = 0;
  std::int64_t last_line_ = 0;
};

/// Larger than any batch or context; the product of three fits into 64 bits.
inline constexpr std::int64_t max_table_count = 1'000'000;

/// A CSV table from a user. Columns may have any order; lines starting with # are skipped. All problems are reported
/// together.
class UserTable {
 public:
  /// `text` must outlive this object. If the header lacks a required column or has an unknown or duplicate one, no rows
  /// are read. Throws InputError for a line of more than max_line_bytes.
  UserTable(std::string_view text, const std::string& file, std::vector<std::string> required,
            std::vector<std::string> optional = {});

  /// Moves to the next row with a cell for each column; false at the end.
  [[nodiscard]] bool next();

  /// The cell in this row; empty for an absent optional column.
  [[nodiscard]] std::string cell(std::string_view column) const;

  /// The value in this row. If the cell is invalid, adds a problem and returns `minimum`, or 0 without one.
  std::int64_t count(std::string_view column, std::int64_t minimum, std::int64_t maximum = max_table_count);
  double positive(std::string_view column);
  double probability(std::string_view column);
  /// A name that needs no quoting in CSV: not empty, no comma, quote or formula.
  std::string name(std::string_view column);

  /// Adds a problem in this row.
  void reject(std::string key, std::string text, std::string why, std::string suggestion = {});
  [[nodiscard]] bool row_rejected() const { return row_rejected_; }

  /// Throws InputError `file:line: ...` with the first twenty problems and the number of the others. `nothing`: message
  /// for a table without rows, such as "holds no step".
  void done(const std::string& nothing);

 private:
  void check_header();
  void reject_cell(std::string_view column, std::string why);

  TextLines lines_;
  CsvHeader header_;
  FirstProblems problems_;
  std::vector<std::string> required_, optional_, cells_;
  std::int64_t line_ = 1, rows_ = 0;
  bool row_rejected_ = false;
  bool readable_ = true;  ///< false: the header is invalid
};

}  // namespace foredraft
