// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/formula.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "experiments/reproduce/paper_formulas.hpp"

namespace foredraft::experiments {

double Cells::extreme(const PublishedTable& table, std::string_view column, bool greatest) const {
  const auto further = [greatest](double a, double b) { return greatest ? std::max(a, b) : std::min(a, b); };
  PrintedNumber end = table.number(0, column);
  for (std::size_t row = 1; row < table.size(); ++row) {
    const PrintedNumber here = table.number(row, column);
    end.value = further(end.value, here.value);
    end.rounding = {further(end.rounding.low, here.rounding.low), further(end.rounding.high, here.rounding.high)};
  }
  return read(table, table.size() + (greatest ? 1 : 0), column, end);
}

double Cells::read(const PublishedTable& table, std::size_t row, std::string_view column,
                   const PrintedNumber& printed) const {
  const auto found = std::find_if(reads_.begin(), reads_.end(), [&](const Read& read) {
    return read.table == &table && read.row == row && read.column == column;
  });
  if (found != reads_.end()) return found->place;
  return reads_.emplace_back(Read{&table, row, std::string(column), printed, printed.value}).place;
}

RoundedValue evaluate(const Formula& formula, const PublishedTable& table, std::size_t row) {
  const Cells cells(table, row);
  const double value = formula(cells);
  std::vector<RoundedValue> inputs;
  for (const Cells::Read& read : cells.reads_) inputs.push_back(rounded(read.printed));
  if (inputs.empty()) return {.value = value, .rounding = {value, value}};
  return propagate_rounding(inputs, [&](std::span<const double> places) {
    for (std::size_t i = 0; i < places.size(); ++i) cells.reads_[i].place = places[i];
    return formula(cells);
  });
}

namespace {

/// The name of a cell in a formula.
struct CellName {
  std::string table;  ///< empty: the table of the formula
  std::string column;
  RowFilter where;
  std::vector<std::string> same;  ///< columns that must have the same text as the formula's row

  [[nodiscard]] const PublishedTable& table_of(const Cells& at) const {
    return table.empty() ? at.table() : published_table(table);
  }
  [[nodiscard]] std::size_t row_of(const Cells& at) const {
    if (table.empty() && where.empty() && same.empty()) return at.row();
    RowFilter all = where;
    for (const std::string& key : same) all.emplace_back(key, at.table().text(at.row(), key));
    return table_of(at).row_where(all);
  }
};

RoundedValue evaluate(const Formula& formula, const Cells& at) { return evaluate(formula, at.table(), at.row()); }

/// Reads a declared formula from left to right.
class FormulaReader {
 public:
  FormulaReader(std::string_view text, const Names& names) : text_(text), rest_(text), names_(names) {}

  Formula formula() {
    Formula whole = sum();
    if (!rest_.empty()) wrong();
    return whole;
  }

  /// The text of a cell or name.
  std::string words(const Cells& at) {
    const std::string name = word();
    if (const auto text = names_.texts.find(name); text != names_.texts.end()) return text->second(at);
    if (const std::string* other = declared_as(name)) return FormulaReader(*other, names_).words(at);
    const CellName cell = cell_of(name);
    return cell.table_of(at).text(cell.row_of(at), cell.column);
  }

 private:
  [[noreturn]] void wrong() const { throw std::logic_error(fmt::format("formula {}: wrong at '{}'", text_, rest_)); }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  bool take(char sign) {
    skip_blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    return true;
  }
  void expect(char sign) {
    if (!take(sign)) wrong();
  }

  std::string_view taken(std::size_t length) {
    const std::string_view front = rest_.substr(0, length);
    rest_.remove_prefix(front.size());
    return front;
  }

  std::string word() {
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    if (end == rest_.begin()) wrong();
    return std::string(taken(static_cast<std::size_t>(end - rest_.begin())));
  }

  Formula sum() { return joined("+-", &FormulaReader::product); }
  Formula product() { return joined("*/", &FormulaReader::factor); }

  /// Reads parts that are joined by these signs, left-associative.
  Formula joined(std::string_view signs, Formula (FormulaReader::*part)()) {
    Formula left = (this->*part)();
    for (skip_blanks(); !rest_.empty() && signs.find(rest_.front()) != std::string_view::npos; skip_blanks()) {
      const char sign = rest_.front();
      take(sign);
      left = [a = std::move(left), b = (this->*part)(), sign](const Cells& at) {
        if (sign == '+') return a(at) + b(at);
        if (sign == '-') return a(at) - b(at);
        return sign == '*' ? a(at) * b(at) : a(at) / b(at);
      };
    }
    return left;
  }

  Formula factor() {
    if (take('(')) {
      Formula inner = sum();
      expect(')');
      return inner;
    }
    if (take('#')) {
      return
          [cell = cell_of(word())](const Cells& at) { return cell.table_of(at).value(cell.row_of(at), cell.column); };
    }
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789."), rest_.size());
    if (digits > 0) {
      const double number = std::stod(std::string(taken(digits)));
      return [number](const Cells&) { return number; };
    }
    const std::string name = word();
    if (take('(')) return call(name);
    if (const auto found = names_.computed.find(name); found != names_.computed.end()) return found->second;
    if (const std::string* other = declared_as(name)) return FormulaReader(*other, names_).formula();
    return [cell = cell_of(name)](const Cells& at) { return at(cell.table_of(at), cell.row_of(at), cell.column); };
  }

  /// The declaration of a name, unless the name starts a cell.
  const std::string* declared_as(const std::string& name) const {
    const auto found = names_.declared.find(name);
    const bool begins_cell = rest_.starts_with('.') || rest_.starts_with('[');
    return found == names_.declared.end() || begins_cell ? nullptr : &found->second;
  }

  std::string meant_by(const std::string& name) const {
    const auto found = names_.declared.find(name);
    return found == names_.declared.end() ? name : found->second;
  }

  CellName cell_of(const std::string& name) {
    CellName cell{.table = {}, .column = meant_by(name), .where = {}, .same = {}};
    if (take('.')) {
      cell.table = cell.column;
      cell.column = meant_by(word());
    }
    if (!take('[')) return cell;
    do {
      const std::string_view condition = taken(rest_.find_first_of(",]"));
      const std::size_t sign = condition.find('=');
      if (sign == std::string_view::npos) {
        cell.same.emplace_back(condition);
      } else {
        cell.where.emplace_back(condition.substr(0, sign), condition.substr(sign + 1));
      }
    } while (take(','));
    expect(']');
    return cell;
  }

  Formula call(const std::string& name) {
    if (name == "least" || name == "greatest") {
      const CellName cell = cell_of(word());
      expect(')');
      return [cell, greatest = name == "greatest"](const Cells& at) {
        return at.extreme(cell.table_of(at), cell.column, greatest);
      };
    }
    std::vector<Formula> arguments;
    while (!take(')')) {
      arguments.push_back(sum());
      if (!rest_.starts_with(')')) expect(',');
    }
    if (name == "low") return [x = arguments.at(0)](const Cells& at) { return evaluate(x, at).rounding.low; };
    if (name == "high") return [x = arguments.at(0)](const Cells& at) { return evaluate(x, at).rounding.high; };
    const std::map<std::string_view, const char*> of_rows{{"lowest", "min"}, {"highest", "max"}, {"average", "mean"}};
    if (const auto found = of_rows.find(name); found != of_rows.end()) {
      return [function = paper_formula(found->second), x = arguments.at(0)](const Cells& at) {
        std::vector<double> values;
        for (std::size_t row = 0; row < at.table().size(); ++row) values.push_back(x(Cells(at.table(), row)));
        return function(values);
      };
    }
    return [function = paper_formula(name), arguments](const Cells& at) {
      std::vector<double> values;
      for (const Formula& argument : arguments) values.push_back(argument(at));
      return function(values);
    };
  }

  std::string_view text_;
  std::string_view rest_;
  const Names& names_;
};

}  // namespace

Formula formula_of(std::string_view text, const Names& names) { return FormulaReader(text, names).formula(); }

std::string filled(std::string_view text, const Names& names, const Cells& at) {
  std::string result;
  for (std::size_t open = 0; (open = text.find('{')) != std::string_view::npos;) {
    result += text.substr(0, open);
    const std::size_t close = text.find('}', open);
    const std::string_view place = text.substr(open + 1, close - open - 1);
    const std::size_t colon = place.find(':');
    if (colon == std::string_view::npos) {
      result += FormulaReader(place, names).words(at);
    } else {
      const double value = formula_of(place.substr(0, colon), names)(at);
      result += fmt::format(fmt::runtime(fmt::format("{{{}}}", place.substr(colon))), value);
    }
    text.remove_prefix(close + 1);
  }
  return result += text;
}

}  // namespace foredraft::experiments
