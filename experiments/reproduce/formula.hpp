// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/scorecard.hpp"

/// Values computed from printed cells, by code or by a declared formula.
namespace foredraft::experiments {

/// The printed cells that a formula reads, at a point within their rounding intervals.
class Cells {
 public:
  Cells(const PublishedTable& table, std::size_t row) : table_(&table), row_(row) {}

  double operator()(const PublishedTable& table, std::size_t row, std::string_view column) const {
    return read(table, row, column, table.number(row, column));
  }
  /// The minimum or maximum of a column. For a printed range, its end is used.
  [[nodiscard]] double extreme(const PublishedTable& table, std::string_view column, bool greatest) const;

  /// Table and row for which the formula is evaluated.
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
  mutable std::vector<Read> reads_;  // no duplicates
};

/// A value computed from printed cells. It must be monotone in each cell, so that its extremes are at ends of rounding
/// intervals.
using Formula = std::function<double(const Cells& at)>;

/// Evaluates a formula for a row, with the interval due to the rounding of the cells.
[[nodiscard]] RoundedValue evaluate(const Formula& formula, const PublishedTable& table, std::size_t row);

/// Names in declared formulas and texts, in addition to columns.
struct Names {
  std::map<std::string, std::string, std::less<>> declared = {};  ///< formulas, or cells, columns and tables
  std::map<std::string, Formula, std::less<>> computed = {};
  std::map<std::string, std::function<std::string(const Cells& at)>, std::less<>> texts = {};
};

/// A declared formula: numbers, + - * /, parentheses, functions, names and cells.
///
///     tok                           of this row, with its rounding interval; #tok: a whole number, not rounded
///     tok[model=SpecDec*, k=25]     of the first matching row (RowFilter)
///     emnlp_table1.tok[model]       of another table, in the row with the same text in this column
///     low(x), high(x)               the ends of x's interval
///     least(tok), greatest(tok)     minimum, maximum of a column
///     lowest(x), highest(x), average(x)  over all rows, at the printed values
///
/// Other functions: paper_formulas.hpp. Throws std::logic_error for an invalid formula.
[[nodiscard]] Formula formula_of(std::string_view text, const Names& names);

/// Fills the placeholders of a text: {CELL or NAME} with a printed or computed text, {FORMULA:FORMAT} with a number.
[[nodiscard]] std::string filled(std::string_view text, const Names& names, const Cells& at);

}  // namespace foredraft::experiments
