// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/embedded_file.hpp"
#include "core/table.hpp"

/// The papers' tables as printed, compiled into the program from experiments/published/*.csv.
namespace foredraft::experiments {

/// Selects rows by (column, text); a text that ends with * matches a prefix.
using RowFilter = std::vector<std::pair<std::string, std::string>>;

class PublishedTable {
 public:
  PublishedTable() = default;
  PublishedTable(std::vector<std::string> columns, std::vector<std::vector<std::string>> rows)
      : columns_(std::move(columns)), rows_(std::move(rows)) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  /// A cell as printed; empty if the source lost it. Throws std::logic_error for an unknown column.
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

  /// True if a cell is a plain number.
  [[nodiscard]] bool is_number(std::size_t row, std::string_view column) const;

  /// The cell as a number with its rounding interval.
  [[nodiscard]] PrintedNumber number(std::size_t row, std::string_view column) const;

  /// number().value; count() is the same for whole numbers.
  [[nodiscard]] double value(std::size_t row, std::string_view column) const { return number(row, column).value; }
  [[nodiscard]] std::int64_t count(std::size_t row, std::string_view column) const;

  [[nodiscard]] bool holds(std::size_t row, const RowFilter& where) const;

  /// The first matching row. Throws std::logic_error if there is none.
  [[nodiscard]] std::size_t row_where(const RowFilter& where) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `name` is the stem of the CSV file: "leviathan_table1". Throws std::logic_error for an unknown name.
[[nodiscard]] const PublishedTable& published_table(std::string_view name);

/// All published tables as CSV.
[[nodiscard]] const std::vector<EmbeddedFile>& published_files();

/// The declarations in TOML (declaration.hpp).
[[nodiscard]] const std::vector<EmbeddedFile>& declaration_files();

}  // namespace foredraft::experiments
