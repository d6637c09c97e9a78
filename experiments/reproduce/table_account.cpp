// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/table_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <stdexcept>

namespace foredraft::experiments {
namespace {

/// Our value with as many decimals as the printed one, and one more to show how it rounds; and the verdict.
std::string our_cell(const ScorecardRow& row) {
  const std::string_view verdict = to_string(row.verdict);
  if (!row.ours) return std::string(verdict);
  const std::string& printed = row.published.value().text;
  const auto point = printed.find('.');
  const auto decimals = point == std::string::npos ? 0 : printed.size() - point - 1;
  return fmt::format("{:.{}f} {}", *row.ours, decimals + 1, verdict);
}

using Answers = std::map<std::size_t, ScorecardRow>;  // by row

/// Columns that only repeat what the paper prints need no second one.
bool only_printed(const Answers& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const auto& entry) {
    const ScorecardRow& answer = entry.second;
    return !answer.ours && answer.verdict != Verdict::finding &&
           (answer.kind == Kind::input || answer.kind == Kind::out_of_reach);
  });
}

}  // namespace

double Cells::operator()(std::string_view table, const RowFilter& where, std::string_view column) const {
  const PublishedTable& other = published_table(table);
  return read(other, other.row_where(where), column);
}

double Cells::read(const PublishedTable& table, std::size_t row, std::string_view column) const {
  const auto found = std::find_if(reads_.begin(), reads_.end(), [&](const Read& read) {
    return read.table == &table && read.row == row && read.column == column;
  });
  if (found != reads_.end()) return found->place;
  const PrintedNumber printed = table.number(row, column);
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

/// Whether a rule says all there is to say of its cells: the words have no places, and no value is wanting.
bool needs_no_code(const CellRule& rule) {
  const bool has_value = rule.ours || rule.kind == Kind::input || rule.kind == Kind::out_of_reach;
  return has_value && (rule.note + rule.finding).find('{') == std::string::npos;
}

}  // namespace

TableAccount::TableAccount(const Declaration& declared)
    : declared_(&declared), published_(published_table(declared.published())) {
  for (const std::string& column : published_.columns()) {
    const std::vector<std::string> labels = declared.labels();
    const bool is_label = std::find(labels.begin(), labels.end(), column) != labels.end();
    for (std::size_t row = 0; row < published_.size(); ++row) {
      if (!published_.is_number(row, column)) continue;
      if (is_label) cell(row, column, {.kind = Kind::input});
      const CellRule* rule = declared.rule(published_, row, column);
      if (rule == nullptr || !needs_no_code(*rule)) continue;
      const auto exactly = [](double value) { return RoundedValue{.value = value, .rounding = {value, value}}; };
      answer(row, column, rule->ours ? Computed(exactly(*rule->ours)) : Computed());
    }
  }
}

std::string TableAccount::row_name(std::size_t row) const {
  std::vector<std::string> words;
  for (const std::string& column : declared_->labels()) {
    const std::string& text = published_.text(row, column);
    if (text.empty()) continue;
    words.push_back(published_.is_number(row, column) ? fmt::format("{}={}", column, text) : text);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void TableAccount::answer(std::size_t row, const std::string& column, const Computed& computed) {
  const CellRule& rule = *declared_->rule(published_, row, column);
  const PrintedNumber printed = published_.number(row, column);
  std::map<std::string, Filling::Value> named{{"printed", printed.text}};
  if (computed.ours) {
    named["ours"] = *computed.ours;
    named["off"] = 100.0 * (*computed.ours / printed.value - 1.0);
  }
  if (computed.interval) {
    named["low"] = computed.interval->low;
    named["high"] = computed.interval->high;
  }
  const bool contradicted = rule.kind == Kind::exact && computed.interval
                                ? !intersects(*computed.interval, printed.rounding)
                                : computed.finding;
  cell(row, column,
       {.ours = computed.ours,
        .ours_interval = computed.interval,
        .kind = rule.kind,
        .note = filled(rule.note, computed.words, named)},
       contradicted ? filled(rule.finding, computed.words, named) : "");
}

std::vector<std::size_t> TableAccount::rows_if(const std::string& column,
                                               const std::function<bool(const CellRule& rule)>& chosen) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < published_.size(); ++row) {
    const CellRule* rule = declared_->rule(published_, row, column);
    if (published_.is_number(row, column) && rule != nullptr && chosen(*rule)) rows.push_back(row);
  }
  return rows;
}

std::vector<std::size_t> TableAccount::rows_of(const std::string& column, Kind kind) const {
  return rows_if(column, [kind](const CellRule& rule) { return rule.kind == kind; });
}

void TableAccount::exact(const std::string& column, const Formula& formula,
                         const std::function<Fillings(std::size_t row)>& words) {
  for (const std::size_t row :
       rows_if(column, [](const CellRule& rule) { return rule.kind == Kind::exact && !needs_no_code(rule); })) {
    answer(row, column, Computed(evaluate(formula, published_, row), words ? words(row) : Fillings()));
  }
}

void TableAccount::compute(const std::string& column, const std::function<Computed(std::size_t row)>& answer_of) {
  for (const std::size_t row : rows_if(column, [](const CellRule& rule) { return !needs_no_code(rule); })) {
    if (!answers_[column].contains(row)) answer(row, column, answer_of(row));
  }
}

void TableAccount::cell(std::size_t row, const std::string& column, ScorecardRow answer, const std::string& finding) {
  if (!published_.is_number(row, column)) {
    throw std::logic_error(
        fmt::format("{}: row {}, column {}: no number is printed there", declared_->id(), row, column));
  }
  answer.experiment = declared_->id();
  answer.row = row_name(row);
  answer.column = column;
  answer.published = published_.number(row, column);
  answers_[column].insert_or_assign(row, scored(std::move(answer), finding));
}

void TableAccount::remark(std::string about, std::string arithmetic) {
  remarks_.push_back({.experiment = declared_->id(),
                      .row = std::move(about),
                      .column = "text",
                      .kind = Kind::exact,
                      .verdict = Verdict::finding,
                      .note = std::move(arithmetic)});
}

ExperimentResult TableAccount::finish() const {
  using enum Table::Align;
  const std::string caption = declared_->text("caption");
  const std::vector<std::string>& columns = published_.columns();
  Table table{.caption = caption, .columns = {}, .rows = {}};
  std::vector<std::string> names;
  std::vector<std::string> missing;
  std::vector<Answers> given;       // of each column
  std::vector<bool> second_column;  // and whether they are shown beside it
  for (const std::string& column : columns) {
    const auto found = answers_.find(column);
    given.push_back(found == answers_.end() ? Answers() : found->second);
    second_column.push_back(!only_printed(given.back()));
    bool numbers = false;
    for (std::size_t row = 0; row < published_.size(); ++row) {
      if (!published_.is_number(row, column)) continue;
      numbers = true;
      if (!given.back().contains(row))
        missing.push_back(fmt::format("row {} ({}), column {}", row, row_name(row), column));
    }
    names.push_back(column);
    table.columns.push_back({second_column.back() ? column + ", paper" : column, numbers ? right : left});
    if (!second_column.back()) continue;
    names.insert(names.end(), {column + "_ours", column + "_verdict"});
    table.columns.push_back({column + ", ours", left});
  }
  if (!missing.empty()) {
    throw std::logic_error(
        fmt::format("{}: numbers without an account: {}", declared_->id(), fmt::join(missing, "; ")));
  }

  ExperimentResult result;
  DataText data(names);
  std::vector<std::string> findings(columns.size());
  for (std::size_t row = 0; row < published_.size(); ++row) {
    std::vector<std::string>& shown = table.rows.emplace_back();
    data.row();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& text = published_.text(row, columns[i]);
      shown.push_back(text);
      data.cell(text);
      const auto found = given[i].find(row);
      const ScorecardRow* answer = found == given[i].end() ? nullptr : &found->second;
      if (second_column[i]) {
        const bool is_answered = answer != nullptr && answer->kind != Kind::input;
        shown.push_back(is_answered ? our_cell(*answer) : "");
        data.cell(is_answered ? answer->ours : std::nullopt).cell(is_answered ? to_string(answer->verdict) : "");
      }
      if (answer == nullptr) continue;
      result.rows.push_back(*answer);
      if (answer->verdict != Verdict::finding) continue;
      findings[i] += fmt::format(" finding  {}, {}: paper {}; {}\n", answer->row, answer->column, text, answer->note);
    }
  }
  for (const ScorecardRow& remark : remarks_)
    findings.push_back(fmt::format(" finding  {}: {}\n", remark.row, remark.note));
  result.rows.insert(result.rows.end(), remarks_.begin(), remarks_.end());
  result.rows.insert(result.rows.end(), after_.rows.begin(), after_.rows.end());
  result.text = fmt::format("{}\n{}{}", caption, to_text(table), fmt::join(findings, ""));
  result.add_table(declared_->id(), table, data.csv());
  result.append(after_);
  return result;
}

}  // namespace foredraft::experiments
