// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"

/// One printed table, cell by cell: every number that the paper prints gets a row in the scorecard, or the experiment
/// does not finish.
namespace foredraft::experiments {

/// The printed cells that a formula reads, somewhere in the box of their roundings.
class Cells {
 public:
  Cells(const PublishedTable& table, std::size_t row) : table_(&table), row_(row) {}

  /// A cell of the row that the formula is of, of another row, and of another table.
  double operator()(std::string_view column) const { return read(*table_, row_, column); }
  double operator()(std::size_t row, std::string_view column) const { return read(*table_, row, column); }
  double operator()(const PublishedTable& table, std::size_t row, std::string_view column) const {
    return read(table, row, column);
  }
  double operator()(std::string_view table, const RowFilter& where, std::string_view column) const;

  /// A whole number of the row, which is not rounded.
  [[nodiscard]] std::int64_t count(std::string_view column) const { return table_->count(row_, column); }
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
  double read(const PublishedTable& table, std::size_t row, std::string_view column) const;

  const PublishedTable* table_;
  std::size_t row_;
  mutable std::vector<Read> reads_;  // each cell once
};

/// A value from printed cells. It is monotone in each of them, so that its extremes lie at corners of their box.
using Formula = std::function<double(const Cells& at)>;

/// For a row of a table, with what the rounding of the cells that it reads leaves of it.
[[nodiscard]] RoundedValue evaluate(const Formula& formula, const PublishedTable& table = {}, std::size_t row = 0);

/// What code says of one printed cell; its kind and its words are declared.
struct Computed {
  Computed() = default;
  /// Only words, of a cell that has no value of ours.
  static Computed of_words(Fillings filling) {
    Computed computed;
    computed.words = std::move(filling);
    return computed;
  }
  explicit Computed(double value, Fillings filling = {}) : ours(value), words(std::move(filling)) {}
  explicit Computed(const RoundedValue& value, Fillings filling = {})
      : ours(value.value), interval(value.rounding), words(std::move(filling)) {}

  std::optional<double> ours;
  std::optional<Interval> interval;
  Fillings words;  ///< of note and finding; {ours}, {low}, {high}, {printed} and {off} (in percent) go without
  /// Whether the declared finding holds. Of exact cells it does where `interval` misses the printed value.
  bool finding = true;
};

class TableAccount {
 public:
  /// Answers whatever the declaration answers alone. The label columns need no account where they hold words, and count
  /// as inputs where they hold numbers. `declared` must outlive this.
  explicit TableAccount(const Declaration& declared);

  [[nodiscard]] const Declaration& declared() const { return *declared_; }
  [[nodiscard]] const PublishedTable& published() const { return published_; }
  [[nodiscard]] std::string row_name(std::size_t row) const;

  /// Rows whose cell of a column is declared to be of this kind.
  [[nodiscard]] std::vector<std::size_t> rows_of(const std::string& column, Kind kind) const;

  /// By a formula, the cells of a column that are declared to be exact. `words(row)`: those of note and finding.
  void exact(const std::string& column, const Formula& formula,
             const std::function<Fillings(std::size_t row)>& words = nullptr);

  /// `answer_of(row)` for all others of the column that are declared and still open: whose words or value need code.
  void compute(const std::string& column, const std::function<Computed(std::size_t row)>& answer_of);

  /// One cell, scored: kind, ours, interval and note of `answer` count. Later calls replace earlier ones.
  /// Throws std::logic_error where nothing is printed.
  void cell(std::size_t row, const std::string& column, ScorecardRow answer, const std::string& finding = {});

  /// A contradiction that no single cell holds: in a formula, in running text, between tables. It gets a row of its own
  /// in the scorecard, without a published value. `about` says where it is printed.
  void remark(std::string about, std::string arithmetic);

  /// A declared text that follows the table.
  void add_text(std::string_view key, const Fillings& fillings = {}) { after_.text += declared_->text(key, fillings); }

  /// What follows the table: texts, scorecard rows, further artifacts.
  [[nodiscard]] ExperimentResult& after() { return after_; }

  /// The table side by side (paper, ours, verdict), the findings, the scorecard rows in printed order, and what
  /// follows. Throws std::logic_error that names every number without an account.
  [[nodiscard]] ExperimentResult finish() const;

 private:
  void answer(std::size_t row, const std::string& column, const Computed& computed);
  [[nodiscard]] std::vector<std::size_t> rows_if(const std::string& column,
                                                 const std::function<bool(const CellRule& rule)>& chosen) const;

  const Declaration* declared_;
  const PublishedTable& published_;
  std::map<std::string, std::map<std::size_t, ScorecardRow>> answers_;  // [column][row]
  std::vector<ScorecardRow> remarks_;
  ExperimentResult after_;
};

}  // namespace foredraft::experiments
