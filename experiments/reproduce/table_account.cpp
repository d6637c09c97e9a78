// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/table_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "experiments/reproduce/reproduction_folder.hpp"

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

TableAccount::TableAccount(std::string experiment, std::string_view published_name,
                           std::vector<std::string> label_columns)
    : experiment_(std::move(experiment)),
      published_(published_table(published_name)),
      label_columns_(std::move(label_columns)) {
  for (const std::string& column : label_columns_) inputs(column);
}

std::string TableAccount::row_name(std::size_t row) const {
  std::vector<std::string> words;
  for (const std::string& column : label_columns_) {
    const std::string& text = published_.text(row, column);
    if (text.empty()) continue;
    words.push_back(published_.is_number(row, column) ? fmt::format("{}={}", column, text) : text);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void TableAccount::inputs(std::string_view column) {
  each(column, [](std::size_t) {
    return CellAnswer{.kind = Kind::input, .ours = {}, .interval = {}, .note = {}, .finding = {}};
  });
}

void TableAccount::out_of_reach(std::string_view column, const std::string& why) {
  each(column, [&why](std::size_t) {
    return CellAnswer{.kind = Kind::out_of_reach, .ours = {}, .interval = {}, .note = why, .finding = {}};
  });
}

void TableAccount::cell(std::size_t row, std::string_view column, CellAnswer answer) {
  if (!published_.is_number(row, column)) {
    throw std::logic_error(fmt::format("{}: row {}, column {}: no number is printed there", experiment_, row, column));
  }
  if (answer.kind == Kind::exact && !(answer.ours && answer.interval)) {
    throw std::logic_error(fmt::format("{}: row {}, column {}: exact without an interval", experiment_, row, column));
  }
  answers_[std::string(column)].insert_or_assign(row, std::move(answer));
}

void TableAccount::each(std::string_view column, const std::function<CellAnswer(std::size_t row)>& answer) {
  for (std::size_t row = 0; row < published_.size(); ++row) {
    if (published_.is_number(row, column)) cell(row, column, answer(row));
  }
}

void TableAccount::remark(std::string about, std::string arithmetic) {
  remarks_.push_back({.experiment = experiment_,
                      .row = std::move(about),
                      .column = "text",
                      .published = std::nullopt,
                      .ours = std::nullopt,
                      .ours_interval = std::nullopt,
                      .kind = Kind::exact,
                      .verdict = Verdict::finding,
                      .note = std::move(arithmetic)});
}

ExperimentResult TableAccount::finish(const std::string& caption) const {
  using enum Table::Align;
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
      score[row].push_back({.experiment = experiment_,
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
    throw std::logic_error(fmt::format("{}: numbers without an account: {}", experiment_, fmt::join(missing, "; ")));
  }
  for (const ScorecardRow& remark : remarks_) findings += fmt::format(" finding  {}: {}\n", remark.row, remark.note);
  score.push_back(remarks_);
  for (std::vector<ScorecardRow>& rows : score) std::move(rows.begin(), rows.end(), std::back_inserter(result.rows));
  result.text = fmt::format("{}\n{}{}", caption, to_text(table), findings);
  result.artifacts = table_artifacts(experiment_, table, account_data(published_, answers_));
  return result;
}

}  // namespace foredraft::experiments
