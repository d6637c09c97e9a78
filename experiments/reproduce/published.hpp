// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/table.hpp"

/// The papers' tables as printed, compiled into the program from experiments/published/*.csv.
namespace foredraft::experiments {

/// Rows whose columns hold these texts; a text that ends with * is the beginning of one.
using RowFilter = std::vector<std::pair<std::string, std::string>>;

class PublishedTable {
 public:
  PublishedTable() = default;
  PublishedTable(std::vector<std::string> columns, std::vector<std::vector<std::string>> rows)
      : columns_(std::move(columns)), rows_(std::move(rows)) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  /// A cell as printed; empty where the source lost it. Throws std::logic_error on an unknown column.
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

  /// Whether a cell prints a plain number, and not a word or nothing.
  [[nodiscard]] bool is_number(std::size_t row, std::string_view column) const;

  /// The same as a number with its rounding interval.
  [[nodiscard]] PrintedNumber number(std::size_t row, std::string_view column) const;

  /// number().value, and the same of a column of whole numbers.
  [[nodiscard]] double value(std::size_t row, std::string_view column) const { return number(row, column).value; }
  [[nodiscard]] std::int64_t count(std::size_t row, std::string_view column) const;

  [[nodiscard]] bool holds(std::size_t row, const RowFilter& where) const;

  /// The first row that holds these texts. Throws std::logic_error where there is none.
  [[nodiscard]] std::size_t row_where(const RowFilter& where) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `name` is the stem of the CSV file: "leviathan_table1". Throws std::logic_error on an unknown one.
[[nodiscard]] const PublishedTable& published_table(std::string_view name);

/// One embedded file.
struct PublishedFile {
  std::string_view name;
  std::string_view content;
};
[[nodiscard]] const std::vector<PublishedFile>& published_files();

/// What stands beside them, as TOML: declaration.hpp.
[[nodiscard]] const std::vector<PublishedFile>& declaration_files();

}  // namespace foredraft::experiments
