// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/formula.hpp"
#include "experiments/reproduce/registry.hpp"

/// Accounts for a printed table cell by cell: every printed number must get a scorecard row, otherwise finish() throws.
namespace foredraft::experiments {

class TableAccount {
 public:
  /// In label columns, words need no row and numbers count as inputs. `declared` must outlive this object.
  explicit TableAccount(const Declaration& declared);

  [[nodiscard]] const Declaration& declared() const { return *declared_; }
  [[nodiscard]] const PublishedTable& published() const { return published_; }
  [[nodiscard]] std::string row_name(std::size_t row) const;

  /// Rows with a cell of this declared kind in a column.
  [[nodiscard]] std::vector<std::size_t> rows_of(std::string_view column, Kind kind) const;

  /// Define a name in the declaration's formulas or texts.
  void define(std::string name, Formula formula) { names_.computed[std::move(name)] = std::move(formula); }
  void define(std::string name, double number) {
    define(std::move(name), [number](const Cells&) { return number; });
  }
  void define_text(std::string name, std::function<std::string(const Cells& at)> text) {
    names_.texts[std::move(name)] = std::move(text);
  }
  /// Evaluates a declared formula for a row.
  [[nodiscard]] double value(std::string_view formula, std::size_t row) const {
    return formula_of(formula, names_)(Cells(published_, row));
  }

  /// The scorecard row of a printed number; nullopt if no rule applies or a value is missing.
  [[nodiscard]] std::optional<ScorecardRow> answer(std::size_t row, const std::string& column) const;

  /// Text and artifacts after the table.
  [[nodiscard]] ExperimentResult& after() { return after_; }

  /// The table (paper, ours, verdict), the findings, the scorecard rows in printed order, and after(). Throws
  /// std::logic_error, which lists all numbers without a scorecard row.
  [[nodiscard]] ExperimentResult finish() const;

 private:
  const Declaration* declared_;
  const PublishedTable& published_;
  Names names_;
  ExperimentResult after_;
};

}  // namespace foredraft::experiments
