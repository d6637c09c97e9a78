// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "scenario/value.hpp"

/// Declarations of experiments in TOML: experiments/published/*.toml, compiled into the program.
namespace foredraft::experiments {

/// A rule for some printed cells. Formulas and texts as in formula.hpp, with additional names: `self`, the cell's
/// column; `of`, the entry of `of` for this column; `ours`; and `off`, the deviation of `ours` in percent.
struct CellRule {
  std::vector<std::string> columns;
  std::vector<std::string> of;  ///< empty, or one formula per column
  RowFilter where;
  Kind kind = Kind::input;
  std::string ours;      ///< formula; empty: no value
  bool rounded = false;  ///< also show the interval of values that are not exact
  std::string note;      ///< the formula, the fit, or why a cell is out of reach
  std::string finding;   ///< if not empty: what contradicts the printed value; exact cells: only if `ours` does
  std::string only_if;   ///< formula (key `if`): for cells that are not exact, the finding applies if it is above 0
};

/// Text after a table (key `after`).
struct TextAfter {
  RowFilter where;    ///< if not empty: once for each of these rows
  std::string about;  ///< if not empty: where a contradiction between several cells is printed
  /// If not empty: adds a scorecard row that no paper prints for each row of the table, with `ours` and `text` as its
  /// note.
  std::string column;
  std::string ours;
  std::string text;
};

class Declaration {
 public:
  /// `like = ID` inherits from the declaration ID of `before`: its values are defaults, and its rules precede the rules
  /// of this one.
  Declaration(std::string id, const scenario::Mapping& declared, const std::vector<Declaration>& before = {});

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] bool has_figure() const { return has_figure_; }

  /// Stem of the printed table's CSV: `published`, or the id.
  [[nodiscard]] std::string published() const;
  /// Columns that together name a row.
  [[nodiscard]] std::vector<std::string> labels() const { return list("labels"); }
  [[nodiscard]] const std::vector<CellRule>& rules() const { return rules_; }
  /// The last rule that applies to a cell; null if none does.
  [[nodiscard]] const CellRule* rule(const PublishedTable& table, std::size_t row, std::string_view column) const;
  /// Named formulas, cells or tables (key `let`).
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& names() const { return names_; }
  [[nodiscard]] const std::vector<TextAfter>& after() const { return after_; }

  [[nodiscard]] bool has(std::string_view key) const { return texts_.contains(key) || lists_.contains(key); }
  /// A declared text; said() fills its placeholders {}. Throws std::logic_error if it is not declared.
  [[nodiscard]] const std::string& text(std::string_view key) const;
  template <class... Values>
  [[nodiscard]] std::string said(std::string_view key, const Values&... values) const {
    return fmt::format(fmt::runtime(text(key)), values...);
  }

  /// An empty table with the declared `columns` (columns with "<" are left-aligned).
  [[nodiscard]] Table table(std::string caption) const;
  /// An empty CSV with the columns `data`.
  [[nodiscard]] DataText data() const { return DataText(list("data")); }
  /// An additional table of the experiment, with id "ID-NAME".
  [[nodiscard]] const Declaration& part(std::string_view name) const { return parts_.find(name)->second; }

 private:
  /// A declared list; empty if not declared.
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

/// Throws std::logic_error for an unknown id.
[[nodiscard]] const Declaration& declaration(std::string_view id);

}  // namespace foredraft::experiments
