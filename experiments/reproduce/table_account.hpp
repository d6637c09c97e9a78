// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"

/// One printed table, cell by cell: every number that the paper prints gets a row in the scorecard, or the experiment
/// does not finish.
namespace foredraft::experiments {

/// What we have to say of one printed cell.
struct CellAnswer {
  Kind kind;
  std::optional<double> ours;        ///< nothing: we have no figure (out_of_reach)
  std::optional<Interval> interval;  ///< of `ours`, input rounding propagated; needed for kind exact
  std::string note;                  ///< for people: the formula, what was fitted, the error
  std::string finding;  ///< not empty: a published anomaly, and its arithmetic; the verdict is then finding
};

class TableAccount {
 public:
  /// `published_name`: stem of the CSV. A row is named by the texts of `label_columns`, joined by blanks; those columns
  /// need no account where they hold words, and count as inputs where they hold numbers.
  TableAccount(std::string experiment, std::string_view published_name, std::vector<std::string> label_columns);

  [[nodiscard]] const PublishedTable& published() const { return published_; }
  [[nodiscard]] std::string row_name(std::size_t row) const;

  /// All printed cells of a column are parameters we start from.
  void inputs(std::string_view column);

  /// All printed cells of a column need trained weights or data; `why` says which.
  void out_of_reach(std::string_view column, const std::string& why);

  /// One cell. Later calls replace earlier ones, so a column can be given first and single cells after it.
  /// Throws std::logic_error where nothing is printed or an `exact` answer has no interval.
  void cell(std::size_t row, std::string_view column, CellAnswer answer);

  /// `answer(row)` for every printed cell of a column.
  void each(std::string_view column, const std::function<CellAnswer(std::size_t row)>& answer);

  /// A contradiction that no single cell holds: in a formula, in running text, between tables. It gets a row of its own
  /// in the scorecard, without a published value. `about` says where it is printed.
  void remark(std::string about, std::string arithmetic);

  /// The table side by side (paper, ours, verdict), the findings, and the scorecard rows in printed order. `caption`:
  /// one sentence with the source. Throws std::logic_error that names every number without an account.
  [[nodiscard]] ExperimentResult finish(const std::string& caption) const;

 private:
  std::string experiment_;
  PublishedTable published_;
  std::vector<std::string> label_columns_;
  std::map<std::string, std::map<std::size_t, CellAnswer>, std::less<>> answers_;  // [column][row]
  std::vector<ScorecardRow> remarks_;
};

/// "pass", "fail", "finding" or "shown": exact answers pass when their interval meets the rounding of the printed
/// value, a finding is a finding, agreement is not claimed for any other kind.
[[nodiscard]] Verdict verdict_of(const CellAnswer& answer, const PrintedNumber& published);

}  // namespace foredraft::experiments
