// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/texts/texts.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "foredraft/methods.hpp"

namespace foredraft::app {
namespace {

/// What a reader who gives up little may lose.
constexpr double little_loss = 0.1;

std::string speedup_cell(double speedup) { return std::isnan(speedup) ? "-" : decimal_text(speedup, 2) + "x"; }

std::string decimal_cell(double value, int digits) { return std::isnan(value) ? "-" : decimal_text(value, digits); }

/// A row. If it has a pair, the name of the pair comes first and the interval is a half width, because the table has no
/// more room.
std::vector<std::string> method_cells(const MethodRow& row) {
  const Interval interval = normal_interval(row.speedup);
  const bool known_spread = !std::isnan(interval.low);
  std::vector<std::string> cells;
  if (!row.pair.empty()) cells.push_back(row.pair);
  cells.insert(cells.end(), {row.method, row.setting, decimal_cell(row.tokens_per_iteration.mean, 2),
                             decimal_cell(row.iteration_cost, 2)});
  if (!row.pair.empty()) {
    const std::string half =
        known_spread ? fmt::format(" +-{}", decimal_text(interval.high - row.speedup.mean, 2)) : "";
    cells.push_back(speedup_cell(row.speedup.mean) + half);
  } else {
    const std::string range = fmt::format("{}-{}", decimal_text(interval.low, 2), decimal_text(interval.high, 2));
    cells.insert(cells.end(), {speedup_cell(row.speedup.mean), known_spread ? range : "-"});
  }
  cells.push_back(row.exact ? "exact" : decimal_text(row.loss, 3));
  cells.push_back(std::isnan(row.bound) ? "-"
                                        : fmt::format("{:.0f} %", 100.0 * std::min(1.0, row.speedup.mean / row.bound)));
  return cells;
}

/// The columns of method_cells().
Table empty_table(bool named) {
  using enum Table::Align;
  Table table{"", {{"method", left}, {"with", left}, {"tokens", right}, {"cost", right}}, {}};
  if (named) {
    table.columns.insert(table.columns.begin(), {"pair", left});
    table.columns.push_back({"speedup, 95 %", left});
  } else {
    table.columns.push_back({"speedup", right});
    table.columns.push_back({"95 %", left});
  }
  table.columns.push_back({"loss", right});
  table.columns.push_back({"of bound", right});
  return table;
}

/// The table as text. While lines are too long, leaves out cost, then tokens, then bound. The document and the CSV have
/// them.
std::string fitted_text(Table table) {
  constexpr std::size_t widest = 100;
  std::string text = to_text(table);
  for (const std::string_view title : {"cost", "tokens", "of bound"}) {
    if (text.find('\n') <= widest) break;
    const auto at = std::ranges::find(table.columns, title, [](const auto& column) { return column.title; });
    const auto place = at - table.columns.begin();
    table.columns.erase(at);
    for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + place);
    text = to_text(table);
  }
  return text;
}

/// The first row of this pair and temperature for which `fits` holds: rows are sorted by speedup.
template <class Fits>
const MethodRow* first_row(const MethodsAnswer& answer, const std::string& pair, double temperature, const Fits& fits) {
  for (const MethodRow& row : answer.rows) {
    if (row.pair == pair && row.temperature == temperature && fits(row)) return &row;
  }
  return nullptr;
}

std::string methods_headline(const MethodsAnswer& answer, const std::string& pair, double temperature) {
  const MethodRow* exact = first_row(answer, pair, temperature, [](const MethodRow& row) { return row.exact; });
  const MethodRow* relaxed = first_row(answer, pair, temperature, [](const MethodRow& row) {
    return !row.exact && row.loss > 0.0 && row.loss <= little_loss;
  });
  std::string text;
  if (exact != nullptr)
    text = fmt::format("{} ({}) is the fastest exact method, {}", exact->method, exact->setting,
                       speedup_cell(exact->speedup.mean));
  if (relaxed != nullptr) {
    text += fmt::format("{}{} reaches {} and gives up {}", text.empty() ? "" : "; ", relaxed->method,
                        speedup_cell(relaxed->speedup.mean), decimal_text(relaxed->loss, 3));
  }
  return text.empty() ? text : text + ".";
}

/// One or two sentences for each pair.
std::string headlines(const MethodsAnswer& answer, std::size_t temperature) {
  const MethodsQuestion& question = answer.question;
  const double at = question.temperatures[temperature];
  const auto line = [&](const std::string& head, const std::string& pair, std::size_t index) {
    return wrapped(fmt::format("{}acceptance {}. {}\n", head,
                               decimal_text(answer.acceptances[index * question.temperatures.size() + temperature], 3),
                               methods_headline(answer, pair, at)));
  };
  const std::string head = fmt::format("temperature {}, ", short_number_text(at));
  if (question.pairs.empty()) return line(head, "", 0);
  std::string text;
  for (std::size_t k = 0; k < question.pairs.size(); ++k) {
    const std::string& name = question.pairs[k].name;
    text += line(fmt::format("{}pair {}, ", head, name), name, k);
  }
  return text;
}

/// The meaning of the loss of relaxed rules, and its parameters.
std::string loss_words(const MethodsQuestion& question) {
  const std::string_view parameters = question.parameters.empty()
                                          ? "a relaxed rule with its default parameters (foredraft list rules)"
                                          : "a relaxed rule with the parameters that are stated, else its defaults";
  return fmt::format("total variation of the tokens from the target's; {}", parameters);
}

}  // namespace

std::string to_text(const MethodsAnswer& answer) {
  const MethodsQuestion& question = answer.question;
  std::string text;
  for (std::size_t i = 0; i < question.temperatures.size(); ++i) {
    const double temperature = question.temperatures[i];
    Table table = empty_table(!question.pairs.empty());
    for (const MethodRow& row : answer.rows) {
      if (row.temperature == temperature) table.rows.push_back(method_cells(row));
    }
    text += (i == 0 ? "" : "\n") + headlines(answer, i) + "\n" + fitted_text(std::move(table));
  }
  const std::string cost =
      question.price.times.empty()
          ? fmt::format("a draft step of {} decode steps; a pass over {} positions takes {}",
                        short_number_text(question.price.c), question.price.verification.size(),
                        decimal_text(question.price.verification.back() / question.price.verification.front(), 2))
          : question.price.times;
  return text + "\n" + labeled("cost", "in decode steps of the target: " + cost) +
         labeled("loss", loss_words(question)) +
         labeled("bound", "speedup that no method of its kind passes: docs/methods.md");
}

}  // namespace foredraft::app
