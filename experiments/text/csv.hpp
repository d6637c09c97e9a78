// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "experiments/text/table.hpp"

/// Comma-separated text as RFC 4180 has it, except that a line ends with \n alone and no cell spans lines.
namespace foredraft::experiments {

/// `text` as one cell, quoted where it holds a comma or a quote; line breaks become blanks. A text that a spreadsheet
/// would take for a formula, since it begins with = + - @ and is no number, gets an apostrophe before it.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// The first line, with its line end. Throws std::logic_error on a name that stands twice: nobody could say which
/// column is meant.
[[nodiscard]] std::string csv_header(const std::vector<std::string>& names);

/// The cells of one line without its line end. Nothing for a line with an open quote.
[[nodiscard]] std::optional<std::vector<std::string>> split_csv_line(std::string_view line);

/// A CSV file with a header, inside a results folder, one row at a time.
class CsvReader {
 public:
  /// Throws RunError where the file cannot be read or has no header.
  explicit CsvReader(const std::string& path);

  /// Position of a column, or nothing.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

  /// The next row; false at the end. Throws RunError `file:line: ...` on a row of another width.
  bool next(std::vector<std::string>& cells);

 private:
  std::string path_;
  ResultReader file_;
  std::vector<std::string> header_;
  std::string line_;
  std::size_t line_number_ = 1;
};

/// Far beyond any batch or context, and small enough for the product of three to fit into 64 bits.
inline constexpr std::int64_t max_table_count = 1'000'000;

/// A CSV table that a user wrote: a header, columns in any order, lines that begin with # skipped. Everything that is
/// wrong with it is collected, to be said at once.
class UserTable {
 public:
  /// `text` must outlive this. There are no rows below a header that lacks a required column, or has one that is
  /// unknown or there twice. Throws InputError on a line of more than max_line_bytes.
  UserTable(std::string_view text, const std::string& file, std::vector<std::string> required,
            std::vector<std::string> optional = {});

  /// Goes to the next row that has a cell for each column; false at the end.
  [[nodiscard]] bool next();

  /// Of this row; empty for an optional column that is not there.
  [[nodiscard]] std::string cell(std::string_view column) const;

  /// Of this row; where the cell is none, that is refused and the least value returned.
  std::int64_t count(std::string_view column, std::int64_t minimum, std::int64_t maximum = max_table_count);
  double positive(std::string_view column);
  double probability(std::string_view column);
  /// One that can stand in a CSV cell as it is; refused where it is empty, holds a comma or a quote, or
  /// looks like a formula.
  std::string name(std::string_view column);

  /// A problem of this row, in the words of the caller.
  void refuse(std::string key, std::string text, std::string why);
  [[nodiscard]] bool row_refused() const { return row_refused_; }

  /// Throws InputError `file:line: ...`: the first twenty problems, and how many more. `nothing` is one where there
  /// was neither a row nor another problem: "holds no step".
  void done(const std::string& nothing);

 private:
  void read_header(const std::vector<std::string>& cells);

  TextLines lines_;
  ProblemList problems_;
  std::vector<std::string> required_, optional_, header_, cells_;
  std::int64_t line_ = 1, rows_ = 0;
  std::size_t refused_ = 0;
  bool row_refused_ = false;
  bool readable_ = true;  ///< false: the header is broken
};

}  // namespace foredraft::experiments
