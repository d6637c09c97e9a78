// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.hpp"

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

}  // namespace foredraft::experiments
