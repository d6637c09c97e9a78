// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/table_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace foredraft::experiments {
namespace {

/// Our value with as many decimals as the printed one, and one more to show how it rounds.
std::string beside(double ours, const PrintedNumber& published) {
  const auto point = published.text.find('.');
  const auto decimals = point == std::string::npos ? 0 : published.text.size() - point - 1;
  return fmt::format("{:.{}f}", ours, decimals + 1);
}

std::string our_cell(const CellAnswer& answer, const PrintedNumber& published) {
  const std::string_view verdict = to_string(verdict_of(answer, published));
  return answer.ours ? fmt::format("{} {}", beside(*answer.ours, published), verdict) : std::string(verdict);
}

/// Columns that only repeat what the paper prints need no second one.
bool only_printed(const std::map<std::size_t, CellAnswer>& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const auto& entry) {
    return !entry.second.ours && entry.second.finding.empty() &&
           (entry.second.kind == Kind::input || entry.second.kind == Kind::out_of_reach);
  });
}

using ColumnAnswers = std::map<std::string, std::map<std::size_t, CellAnswer>, std::less<>>;

/// The table as data: every column as printed, and after it, where we have answers, our values and their verdicts.
DataText account_data(const PublishedTable& published, const ColumnAnswers& answers) {
  const auto answers_of = [&](const std::string& column) {
    const auto found = answers.find(column);
    return found == answers.end() || only_printed(found->second) ? nullptr : &found->second;
  };
  std::vector<std::string> names;
  for (const std::string& column : published.columns()) {
    names.push_back(column);
    if (answers_of(column) != nullptr) names.insert(names.end(), {column + "_ours", column + "_verdict"});
  }
  DataText data(std::move(names));
  for (std::size_t row = 0; row < published.size(); ++row) {
    data.row();
    for (const std::string& column : published.columns()) {
      data.cell(published.text(row, column));
      const auto* const given = answers_of(column);
      if (given == nullptr) continue;
      const auto answer = given->find(row);
      if (answer == given->end() || answer->second.kind == Kind::input) {
        data.cell(std::string_view()).cell(std::string_view());
      } else {
        data.cell(answer->second.ours).cell(to_string(verdict_of(answer->second, published.number(row, column))));
      }
    }
  }
  return data;
}

}  // namespace

Verdict verdict_of(const CellAnswer& answer, const PrintedNumber& published) {
  if (!answer.finding.empty()) return Verdict::finding;
  if (answer.kind != Kind::exact) return Verdict::shown;
  return intersects(answer.interval.value(), published.rounding) ? Verdict::pass : Verdict::fail;
}

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
    const bool is_label =
        std::find(declared.labels().begin(), declared.labels().end(), column) != declared.labels().end();
    for (std::size_t row = 0; row < published_.size(); ++row) {
      if (!published_.is_number(row, column)) continue;
      if (is_label) cell(row, column, {.kind = Kind::input});
      const CellRule* rule = declared.rule(published_, row, column);
      if (rule == nullptr || !needs_no_code(*rule)) continue;
      const auto exactly = [](double value) { return RoundedValue{.value = value, .rounding = {value, value}}; };
      answer(row, column, *rule, rule->ours ? Computed(exactly(*rule->ours)) : Computed());
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

void TableAccount::answer(std::size_t row, std::string_view column, const CellRule& rule, const Computed& computed) {
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
       {.kind = rule.kind,
        .ours = computed.ours,
        .interval = computed.interval,
        .note = filled(rule.note, computed.words, named),
        .finding = contradicted ? filled(rule.finding, computed.words, named) : ""});
}

void TableAccount::answer_open(std::string_view column, bool exact,
                               const std::function<Computed(std::size_t row)>& answer_of) {
  for (std::size_t row = 0; row < published_.size(); ++row) {
    if (!published_.is_number(row, column)) continue;
    const CellRule* rule = declared_->rule(published_, row, column);
    if (rule == nullptr || needs_no_code(*rule) || (rule->kind == Kind::exact) != exact) continue;
    answer(row, column, *rule, answer_of(row));
  }
}

std::vector<std::size_t> TableAccount::rows_of(std::string_view column, Kind kind) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < published_.size(); ++row) {
    const CellRule* rule = declared_->rule(published_, row, column);
    if (published_.is_number(row, column) && rule != nullptr && rule->kind == kind) rows.push_back(row);
  }
  return rows;
}

void TableAccount::compute(std::string_view column, const std::function<Computed(std::size_t row)>& answer) {
  answer_open(column, false, answer);
}

void TableAccount::exact_values(std::string_view column, const std::function<Computed(std::size_t row)>& answer) {
  answer_open(column, true, answer);
}

void TableAccount::exact(std::string_view column, const Formula& formula,
                         const std::function<Fillings(std::size_t row)>& words) {
  exact_values(column, [&](std::size_t row) {
    return Computed(evaluate(formula, published_, row), words ? words(row) : Fillings());
  });
}

void TableAccount::cell(std::size_t row, std::string_view column, CellAnswer answer) {
  if (!published_.is_number(row, column)) {
    throw std::logic_error(
        fmt::format("{}: row {}, column {}: no number is printed there", declared_->id(), row, column));
  }
  if (answer.kind == Kind::exact && !(answer.ours && answer.interval)) {
    throw std::logic_error(
        fmt::format("{}: row {}, column {}: exact without an interval", declared_->id(), row, column));
  }
  answers_[std::string(column)].insert_or_assign(row, std::move(answer));
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
  ExperimentResult result;
  Table table{.caption = caption, .columns = {}, .rows = std::vector<std::vector<std::string>>(published_.size())};
  std::vector<std::string> missing;
  std::string findings;
  std::vector<std::vector<ScorecardRow>> score(published_.size());
  for (const std::string& column : published_.columns()) {
    const auto found = answers_.find(column);
    const bool second_column = found != answers_.end() && !only_printed(found->second);
    bool numbers = false;
    for (std::size_t row = 0; row < published_.size(); ++row) {
      table.rows[row].push_back(published_.text(row, column));
      if (second_column) table.rows[row].emplace_back();
      if (!published_.is_number(row, column)) continue;
      numbers = true;
      if (found == answers_.end() || !found->second.contains(row)) {
        missing.push_back(fmt::format("row {} ({}), column {}", row, row_name(row), column));
        continue;
      }
      const CellAnswer& answer = found->second.at(row);
      const PrintedNumber printed = published_.number(row, column);
      if (second_column && answer.kind != Kind::input) table.rows[row].back() = our_cell(answer, printed);
      if (!answer.finding.empty()) {
        findings +=
            fmt::format(" finding  {}, {}: paper {}; {}\n", row_name(row), column, printed.text, answer.finding);
      }
      score[row].push_back({.experiment = declared_->id(),
                            .row = row_name(row),
                            .column = column,
                            .published = printed,
                            .ours = answer.ours,
                            .ours_interval = answer.interval,
                            .kind = answer.kind,
                            .verdict = verdict_of(answer, printed),
                            .note = answer.finding.empty() ? answer.note : answer.finding});
    }
    table.columns.push_back({second_column ? column + ", paper" : column, numbers ? right : left});
    if (second_column) table.columns.push_back({column + ", ours", left});
  }
  if (!missing.empty()) {
    throw std::logic_error(
        fmt::format("{}: numbers without an account: {}", declared_->id(), fmt::join(missing, "; ")));
  }
  for (const ScorecardRow& remark : remarks_) findings += fmt::format(" finding  {}: {}\n", remark.row, remark.note);
  score.push_back(remarks_);
  for (std::vector<ScorecardRow>& rows : score) std::move(rows.begin(), rows.end(), std::back_inserter(result.rows));
  result.rows.insert(result.rows.end(), after_.rows.begin(), after_.rows.end());
  result.text = fmt::format("{}\n{}{}{}", caption, to_text(table), findings, after_.text);
  result.add_table(declared_->id(), table, account_data(published_, answers_).csv());
  result.artifacts.insert(result.artifacts.end(), after_.artifacts.begin(), after_.artifacts.end());
  return result;
}

}  // namespace foredraft::experiments
