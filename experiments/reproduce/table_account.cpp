// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/table_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <stdexcept>

namespace foredraft::experiments {
namespace {

/// Our value with one decimal more than the printed one, to show how it rounds, and the verdict.
std::string our_cell(const ScorecardRow& row) {
  const std::string_view verdict = to_string(row.verdict);
  if (!row.ours) return std::string(verdict);
  const std::string& printed = row.published.value().text;
  const auto point = printed.find('.');
  const auto decimals = point == std::string::npos ? 0 : printed.size() - point - 1;
  return fmt::format("{:.{}f} {}", *row.ours, decimals + 1, verdict);
}

using Answers = std::vector<std::optional<ScorecardRow>>;  // by row

/// True for columns without values of ours, which are shown once.
bool only_printed(const Answers& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const auto& answer) {
    return !answer || (!answer->ours && answer->verdict != Verdict::finding &&
                       (answer->kind == Kind::input || answer->kind == Kind::out_of_reach));
  });
}

}  // namespace

TableAccount::TableAccount(const Declaration& declared)
    : declared_(&declared), published_(published_table(declared.published())), names_{.declared = declared.names()} {}

std::string TableAccount::row_name(std::size_t row) const {
  std::vector<std::string> words;
  for (const std::string& column : declared_->labels()) {
    const std::string& text = published_.text(row, column);
    if (text.empty()) continue;
    words.push_back(published_.is_number(row, column) ? fmt::format("{}={}", column, text) : text);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::size_t> TableAccount::rows_of(std::string_view column, Kind kind) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < published_.size(); ++row) {
    const CellRule* rule = declared_->rule(published_, row, column);
    if (published_.is_number(row, column) && rule != nullptr && rule->kind == kind) rows.push_back(row);
  }
  return rows;
}

std::optional<ScorecardRow> TableAccount::answer(std::size_t row, const std::string& column) const {
  ScorecardRow answer{.experiment = declared_->id(),
                      .row = row_name(row),
                      .column = column,
                      .published = published_.number(row, column),
                      .kind = Kind::input};
  const CellRule* rule = declared_->rule(published_, row, column);
  const std::vector<std::string> labels = declared_->labels();
  if (rule == nullptr && std::ranges::count(labels, column) > 0) return answer;
  if (rule == nullptr) return std::nullopt;
  answer.kind = rule->kind;
  const bool is_computed = rule->kind == Kind::exact || rule->kind == Kind::predicted || rule->kind == Kind::fitted;
  if (is_computed && rule->ours.empty()) return std::nullopt;

  const Cells at(published_, row);
  Names names = names_;
  names.declared["self"] = column;
  names.declared["ours"] = rule->ours;
  names.declared["off"] = "100 * (ours / self - 1)";
  if (!rule->of.empty()) {
    const auto place = std::find(rule->columns.begin(), rule->columns.end(), column) - rule->columns.begin();
    names.declared["of"] = rule->of.at(static_cast<std::size_t>(place));
  }
  if (!rule->ours.empty()) {
    const Formula formula = formula_of(rule->ours, names);
    if (rule->kind == Kind::exact || rule->rounded) {
      const RoundedValue value = evaluate(formula, published_, row);
      answer.ours = value.value;
      answer.ours_interval = value.rounding;
    } else {
      answer.ours = formula(at);
    }
  }
  const bool contradicted = rule->kind == Kind::exact ? !intersects(*answer.ours_interval, answer.published->rounding)
                            : rule->only_if.empty()   ? true
                                                      : formula_of(rule->only_if, names)(at) > 0.0;
  answer.note = filled(rule->note, names, at);
  return scored(std::move(answer), contradicted ? filled(rule->finding, names, at) : "");
}

ExperimentResult TableAccount::finish() const {
  using enum Table::Align;
  const std::string& caption = declared_->text("caption");
  const std::vector<std::string>& columns = published_.columns();
  Table table{.caption = caption, .columns = {}, .rows = {}};
  std::vector<std::string> names;
  std::vector<std::string> missing;
  std::vector<Answers> given;       // of each column
  std::vector<bool> second_column;  // [column]: our values are shown next to it
  for (const std::string& column : columns) {
    Answers& answers = given.emplace_back(published_.size());
    bool numbers = false;
    for (std::size_t row = 0; row < published_.size(); ++row) {
      if (!published_.is_number(row, column)) continue;
      numbers = true;
      answers[row] = answer(row, column);
      if (!answers[row]) missing.push_back(fmt::format("row {} ({}), column {}", row, row_name(row), column));
    }
    second_column.push_back(!only_printed(answers));
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
      const std::optional<ScorecardRow>& answer = given[i][row];
      if (second_column[i]) {
        const bool is_answered = answer && answer->kind != Kind::input;
        shown.push_back(is_answered ? our_cell(*answer) : "");
        data.cell(is_answered ? answer->ours : std::nullopt).cell(is_answered ? to_string(answer->verdict) : "");
      }
      if (!answer) continue;
      result.rows.push_back(*answer);
      if (answer->verdict != Verdict::finding) continue;
      findings[i] += fmt::format(" finding  {}, {}: paper {}; {}\n", answer->row, answer->column, text, answer->note);
    }
  }
  std::string texts;
  for (const TextAfter& after : declared_->after()) {
    const auto said = [&](std::size_t row) { return filled(after.text, names_, Cells(published_, row)); };
    if (!after.about.empty()) {
      result.rows.push_back({.experiment = declared_->id(),
                             .row = after.about,
                             .column = "text",
                             .kind = Kind::exact,
                             .verdict = Verdict::finding,
                             .note = said(0)});
      findings.push_back(fmt::format(" finding  {}: {}\n", after.about, result.rows.back().note));
      continue;
    }
    const bool each_row = !after.where.empty() || !after.column.empty();
    for (std::size_t row = 0; row < (each_row ? published_.size() : 1); ++row) {
      if (!published_.holds(row, after.where)) continue;
      if (after.column.empty()) {
        texts += said(row);
      } else {
        result.rows.push_back({.experiment = declared_->id(),
                               .row = row_name(row),
                               .column = after.column,
                               .ours = value(after.ours, row),
                               .note = said(row)});
      }
    }
  }
  result.text = fmt::format("{}\n{}{}{}", caption, to_text(table), fmt::join(findings, ""), texts);
  result.add_table(declared_->id(), table, data.csv());
  result.append(after_);
  return result;
}

}  // namespace foredraft::experiments
