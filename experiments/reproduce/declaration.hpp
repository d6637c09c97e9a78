// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/table.hpp"
#include "scenario/value.hpp"

/// Declarations of experiments, which need no code: experiments/published/*.toml, compiled into the program.
namespace foredraft::experiments {

/// What fills the places {} of a declared text: a number, a text, or the value, low and high end of a computed value.
class Filling {
 public:
  using Value = std::variant<double, std::int64_t, std::string>;

  Filling(double number) : values_{number} {}
  Filling(std::integral auto number) : values_{static_cast<std::int64_t>(number)} {}
  Filling(std::string text) : values_{std::move(text)} {}
  Filling(std::string_view text) : values_{std::string(text)} {}
  Filling(const char* text) : values_{std::string(text)} {}
  Filling(const PrintedNumber& printed) : values_{printed.text} {}
  Filling(const Interval& interval) : values_{interval.low, interval.high} {}
  Filling(const RoundedValue& value) : values_{value.value, value.rounding.low, value.rounding.high} {}

  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  std::vector<Value> values_;
};

using Fillings = std::vector<Filling>;

/// Fills the places of a text as fmt::format does; places with a name take theirs from `named`.
[[nodiscard]] std::string filled(const std::string& text, const Fillings& fillings,
                                 const std::map<std::string, Filling::Value>& named = {});

/// What can be said of some printed cells: `{ columns = [...], where = {...}, kind, note, finding, ours }`.
struct CellRule {
  std::vector<std::string> columns;
  RowFilter where;
  Kind kind;
  std::string note;            ///< the formula, what was fitted, why a cell is out of reach
  std::string finding;         ///< not empty: what contradicts the printed value; of exact cells, if it does
  std::optional<double> ours;  ///< a value that needs no formula
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

  [[nodiscard]] bool has(std::string_view key) const { return texts_.contains(key) || lists_.contains(key); }
  /// A text with its places filled. Throws std::logic_error where none of this name is declared.
  [[nodiscard]] std::string text(std::string_view key, const Fillings& fillings = {}) const;

  /// A table without rows of `columns` (those with "<" are aligned left) under `caption`, filled.
  [[nodiscard]] Table table(const Fillings& caption = {}) const;
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
  std::vector<CellRule> rules_;
};

/// Every declared experiment, in the order of `reproduce --all`.
[[nodiscard]] const std::vector<Declaration>& declarations();

/// Throws std::logic_error where there is none of this id.
[[nodiscard]] const Declaration& declaration(std::string_view id);

}  // namespace foredraft::experiments
