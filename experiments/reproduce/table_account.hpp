// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/formula.hpp"
#include "experiments/reproduce/registry.hpp"

/// One printed table, cell by cell: every number that the paper prints gets a row in the scorecard, or the experiment
/// does not finish.
namespace foredraft::experiments {

class TableAccount {
 public:
  /// The label columns need no account where they hold words, and count as inputs where they hold numbers. `declared`
  /// must outlive this.
  explicit TableAccount(const Declaration& declared);

  [[nodiscard]] const Declaration& declared() const { return *declared_; }
  [[nodiscard]] const PublishedTable& published() const { return published_; }
  [[nodiscard]] std::string row_name(std::size_t row) const;

  /// Rows whose cell of a column is declared to be of this kind.
  [[nodiscard]] std::vector<std::size_t> rows_of(std::string_view column, Kind kind) const;

  /// What a name in the declaration's formulas stands for, and in its texts.
  void define(std::string name, Formula formula) { names_.computed[std::move(name)] = std::move(formula); }
  void define(std::string name, double number) {
    define(std::move(name), [number](const Cells&) { return number; });
  }
  void define_text(std::string name, std::function<std::string(const Cells& at)> text) {
    names_.texts[std::move(name)] = std::move(text);
  }
  /// A declared formula for a row.
  [[nodiscard]] double value(std::string_view formula, std::size_t row) const {
    return formula_of(formula, names_)(Cells(published_, row));
  }

  /// What the declaration says of a printed number; nothing where a value is wanting, or any account.
  [[nodiscard]] std::optional<ScorecardRow> answer(std::size_t row, const std::string& column) const;

  /// What follows the table: texts and further artifacts.
  [[nodiscard]] ExperimentResult& after() { return after_; }

  /// The table side by side (paper, ours, verdict), the findings, the scorecard rows in printed order, and what
  /// follows. Throws std::logic_error that names every number without an account.
  [[nodiscard]] ExperimentResult finish() const;

 private:
  const Declaration* declared_;
  const PublishedTable& published_;
  Names names_;
  ExperimentResult after_;
};

}  // namespace foredraft::experiments
