// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/formula.hpp"
#include "experiments/reproduce/registry.hpp"

namespace foredraft::experiments {

/// Collects the result of an experiment that is not a printed table, or is a table with its own layout: a text, data,
/// and a table if `columns` are declared.
class FigureAccount {
 public:
  /// `caption`: of the table, if the declared one has placeholders.
  explicit FigureAccount(const Declaration& declared, const std::string& caption = {});

  [[nodiscard]] const Declaration& declared() const { return declared_; }

  /// Adds a row of the CSV: texts, numbers, Estimates (two cells) and optional ones.
  template <class... Cells>
  void row(const Cells&... cells) {
    data_.row();
    add(cells...);
  }
  /// Adds cells to the row.
  template <class... Cells>
  void add(const Cells&... cells) {
    (add_cell(cells), ...);
  }

  /// Adds a row of the table.
  void shown(std::vector<std::string> texts) { table_.rows.push_back(std::move(texts)); }

  /// Adds text and artifacts of a part, before the data of this experiment.
  void append(const ExperimentResult& part) { result_.append(part); }

  /// Evaluates a declared formula of printed cells.
  [[nodiscard]] double value(std::string_view formula) const {
    const PublishedTable none;
    return formula_of(formula, {.declared = declared_.names()})(Cells(none, 0));
  }

  /// Append to the text: a given text, a declared text, the caption (placeholders are filled with formulas), the table
  /// so far.
  void say(const std::string& text) { result_.text += text; }
  template <class... Values>
  void say_declared(std::string_view key, const Values&... values) {
    say(declared_.said(key, values...));
  }
  void say_caption() {
    const PublishedTable none;
    say(filled(declared_.text("caption"), {.declared = declared_.names()}, Cells(none, 0)));
  }
  void say_table() { say(to_text(table_)); }

  /// Adds a scorecard row that no paper prints.
  void score(const std::string& row, const std::string& column, double ours, const std::string& note) {
    score({.experiment = declared_.id(), .row = row, .column = column, .ours = ours, .note = note});
  }
  void score(ScorecardRow row) { result_.rows.push_back(std::move(row)); }
  /// Adds a printed parameter.
  void score_input(const std::string& row, const std::string& column, const PrintedNumber& published) {
    score({.experiment = declared_.id(), .row = row, .column = column, .published = published, .kind = Kind::input});
  }

  void add_inputs(const std::vector<FileDigest>& files) {
    result_.inputs.insert(result_.inputs.end(), files.begin(), files.end());
  }

  /// Returns the result with data and table as artifacts.
  [[nodiscard]] ExperimentResult finish();

 private:
  template <class Cell>
  void add_cell(const Cell& cell) {
    if constexpr (std::is_integral_v<Cell>) {
      data_.cell(static_cast<double>(cell));
    } else {
      data_.cell(cell);
    }
  }

  const Declaration& declared_;
  Table table_;
  DataText data_;
  ExperimentResult result_;
};

}  // namespace foredraft::experiments
