// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"

/// Comma-separated text as RFC 4180 has it, except that a line ends with \n alone and no cell spans lines.
namespace foredraft {

/// `text` as one cell, quoted where it holds a comma or a quote; line breaks become blanks. A text that a spreadsheet
/// would take for a formula, since it begins with = + - @ and is no number, gets an apostrophe before it.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// The first line, with its line end. Throws std::logic_error for a repeated name.
[[nodiscard]] std::string csv_header(const std::vector<std::string>& names);

/// The cells of one line without its line end. Nothing for a line with an open quote.
[[nodiscard]] std::optional<std::vector<std::string>> split_csv_line(std::string_view line);

/// The first line of a table.
struct CsvHeader {
  std::vector<std::string> names;
  /// Position of a column.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// A CSV file inside a results folder, one row at a time.
class CsvReader {
 public:
  /// Throws RunError for a file that cannot be read or has no header.
  explicit CsvReader(const std::string& path);

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const { return header_.column(name); }

  /// The next row; false at the end. Throws RunError `file:line: ...` for a row of another width.
  bool next(std::vector<std::string>& cells);

 private:
  std::string path_;
  ResultReader file_;
  CsvHeader header_;
  std::string line_;
  std::size_t line_number_ = 1;
};

/// The first twenty problems of a file, and how many more there are.
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

/// A CSV table that a user wrote: columns in any order, lines that begin with # skipped. All problems are reported at
/// once.
class UserTable {
 public:
  /// `text` must outlive this. A header that lacks a required column, or has an unknown or repeated one, ends the
  /// table. Throws InputError on a line of more than max_line_bytes.
  UserTable(std::string_view text, const std::string& file, std::vector<std::string> required,
            std::vector<std::string> optional = {});

  /// Goes to the next row that has a cell for each column; false at the end.
  [[nodiscard]] bool next();

  /// Of this row; empty for an absent optional column.
  [[nodiscard]] std::string cell(std::string_view column) const;

  /// Of this row; the least legal value, and a problem, for an illegal cell.
  std::int64_t count(std::string_view column, std::int64_t minimum, std::int64_t maximum = max_table_count);
  double positive(std::string_view column);
  double probability(std::string_view column);
  /// One that can stand in a CSV cell as it is: not empty, no comma, quote or formula.
  std::string name(std::string_view column);

  /// Adds a problem of this row.
  void reject(std::string key, std::string text, std::string why, std::string suggestion = {});
  [[nodiscard]] bool row_rejected() const { return row_rejected_; }

  /// Throws InputError `file:line: ...` with the first twenty problems and the number of the others. `nothing` is the
  /// problem of a table without rows: "holds no step".
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
  bool readable_ = true;  ///< false: the header is broken
};

}  // namespace foredraft
