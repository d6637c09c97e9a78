// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "scenario/value.hpp"

/// Declarations of experiments, which need no code: experiments/published/*.toml, compiled into the program.
namespace foredraft::experiments {

/// What can be said of some printed cells. Formulas and texts are those of formula.hpp, with three more names: `self`,
/// the cell's column; `of`, what stands for this column beside the list of columns; `ours`, and `off`, what it is off
/// by in percent.
struct CellRule {
  std::vector<std::string> columns;
  std::vector<std::string> of;  ///< empty, or a formula for each of the columns
  RowFilter where;
  Kind kind = Kind::input;
  std::string ours;      ///< formula; empty: no value
  bool rounded = false;  ///< a value that is not exact shows its interval, too
  std::string note;      ///< the formula, what was fitted, why a cell is out of reach
  std::string finding;   ///< not empty: what contradicts the printed value; of exact cells, if `ours` does
  std::string only_if;   ///< formula (key `if`): the finding of another cell holds where it is above 0
};

/// What follows a table (key `after`): a text.
struct TextAfter {
  RowFilter where;    ///< not empty: for each of these rows
  std::string about;  ///< not empty: a contradiction that no single cell holds, and where it is printed
  /// Not empty: the note of a row of the scorecard that no paper prints, with `ours`, for each row of the table.
  std::string column;
  std::string ours;
  std::string text;
};

class Declaration {
 public:
  /// `like = ID`: what one of those `before` says holds where this one says nothing else; rules stand behind its rules.
  Declaration(std::string id, const scenario::Mapping& declared, const std::vector<Declaration>& before = {});

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] bool has_figure() const { return has_figure_; }

  /// Stem of the printed table's CSV: `published`, or the id.
  [[nodiscard]] std::string published() const;
  /// Columns whose texts name a row.
  [[nodiscard]] std::vector<std::string> labels() const { return list("labels"); }
  [[nodiscard]] const std::vector<CellRule>& rules() const { return rules_; }
  /// The last rule that holds for a cell; null where none does.
  [[nodiscard]] const CellRule* rule(const PublishedTable& table, std::size_t row, std::string_view column) const;
  /// Names of formulas, cells or tables (key `let`).
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& names() const { return names_; }
  [[nodiscard]] const std::vector<TextAfter>& after() const { return after_; }

  [[nodiscard]] bool has(std::string_view key) const { return texts_.contains(key) || lists_.contains(key); }
  /// A text as declared, and with its places {} filled. Throws std::logic_error where none of this name is declared.
  [[nodiscard]] const std::string& text(std::string_view key) const;
  template <class... Values>
  [[nodiscard]] std::string said(std::string_view key, const Values&... values) const {
    return fmt::format(fmt::runtime(text(key)), values...);
  }

  /// A table without rows of `columns` (those with "<" are aligned left).
  [[nodiscard]] Table table(std::string caption) const;
  /// The same of the CSV, whose columns are `data`.
  [[nodiscard]] DataText data() const { return DataText(list("data")); }
  /// A further table of the experiment: its id is "ID-NAME".
  [[nodiscard]] const Declaration& part(std::string_view name) const { return parts_.find(name)->second; }

 private:
  /// Empty if none is declared.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const;

  std::string id_;
  bool has_figure_ = false;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;
  std::map<std::string, Declaration, std::less<>> parts_;
  std::map<std::string, std::string, std::less<>> names_;
  std::vector<CellRule> rules_;
  std::vector<TextAfter> after_;
};

/// Every declared experiment, in the order of `reproduce --all`.
[[nodiscard]] const std::vector<Declaration>& declarations();

/// Throws std::logic_error where there is none of this id.
[[nodiscard]] const Declaration& declaration(std::string_view id);

}  // namespace foredraft::experiments
