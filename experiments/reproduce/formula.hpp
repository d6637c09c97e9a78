// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/scorecard.hpp"

/// Values computed from printed cells, by code or as a declaration writes them.
namespace foredraft::experiments {

/// The printed cells that a formula reads, somewhere in the box of their roundings.
class Cells {
 public:
  Cells(const PublishedTable& table, std::size_t row) : table_(&table), row_(row) {}

  double operator()(const PublishedTable& table, std::size_t row, std::string_view column) const {
    return read(table, row, column, table.number(row, column));
  }
  /// The least or the greatest number of a column. An end of a range is as far as an end of a rounding.
  [[nodiscard]] double extreme(const PublishedTable& table, std::string_view column, bool greatest) const;

  /// That the formula is of.
  [[nodiscard]] const PublishedTable& table() const { return *table_; }
  [[nodiscard]] std::size_t row() const { return row_; }

 private:
  friend RoundedValue evaluate(const std::function<double(const Cells&)>&, const PublishedTable&, std::size_t);
  struct Read {
    const PublishedTable* table;
    std::size_t row;
    std::string column;
    PrintedNumber printed;
    double place;
  };
  double read(const PublishedTable& table, std::size_t row, std::string_view column,
              const PrintedNumber& printed) const;

  const PublishedTable* table_;
  std::size_t row_;
  mutable std::vector<Read> reads_;  // each cell once
};

/// A value from printed cells. It is monotone in each of them, so that its extremes lie at corners of their box.
using Formula = std::function<double(const Cells& at)>;

/// For a row of a table, with what the rounding of the cells that it reads leaves of it.
[[nodiscard]] RoundedValue evaluate(const Formula& formula, const PublishedTable& table, std::size_t row);

/// What names in declared formulas and texts mean beside columns.
struct Names {
  std::map<std::string, std::string, std::less<>> declared = {};  ///< formulas, or cells, columns and tables
  std::map<std::string, Formula, std::less<>> computed = {};
  std::map<std::string, std::function<std::string(const Cells& at)>, std::less<>> texts = {};
};

/// A declared formula: numbers, + - * /, parentheses, functions, names and cells.
///
///     tok                           of this row, within its rounding; #tok: a whole number, which is not rounded
///     tok[model=SpecDec*, k=25]     of the first row that holds these texts (RowFilter)
///     emnlp_table1.tok[model]       of another table; where its column holds the same text as this row
///     low(x), high(x)               the ends of what rounding leaves of x
///     least(tok), greatest(tok)     of all rows of a column
///     lowest(x), highest(x), average(x)  of all rows, at the printed values
///
/// Other functions are those of paper_formulas.hpp. Throws std::logic_error where it cannot be read.
[[nodiscard]] Formula formula_of(std::string_view text, const Names& names);

/// Fills the places of a text: {CELL or NAME} with a text as printed or computed, {FORMULA:FORMAT} with a number.
[[nodiscard]] std::string filled(std::string_view text, const Names& names, const Cells& at);

}  // namespace foredraft::experiments
