// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

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

std::vector<std::string> method_cells(const MethodRow& row) {
  const Interval interval = normal_interval(row.speedup);
  const bool known_spread = !std::isnan(interval.low);
  return {row.method,
          row.setting,
          decimal_cell(row.tokens_per_iteration.mean, 2),
          decimal_cell(row.iteration_cost, 2),
          speedup_cell(row.speedup.mean),
          known_spread ? fmt::format("{}-{}", decimal_text(interval.low, 2), decimal_text(interval.high, 2)) : "-",
          row.exact ? "exact" : decimal_text(row.loss, 3),
          std::isnan(row.bound) ? "-" : fmt::format("{:.0f} %", 100.0 * std::min(1.0, row.speedup.mean / row.bound))};
}

/// The first row of this temperature for which `fits` holds: rows are sorted by speedup.
template <class Fits>
const MethodRow* first_row(const MethodsAnswer& answer, double temperature, const Fits& fits) {
  for (const MethodRow& row : answer.rows) {
    if (row.temperature == temperature && fits(row)) return &row;
  }
  return nullptr;
}

std::string methods_headline(const MethodsAnswer& answer, double temperature) {
  const MethodRow* exact = first_row(answer, temperature, [](const MethodRow& row) { return row.exact; });
  const MethodRow* relaxed = first_row(answer, temperature, [](const MethodRow& row) {
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

}  // namespace

std::string to_text(const MethodsAnswer& answer) {
  const MethodsQuestion& question = answer.question;
  std::string text;
  for (std::size_t i = 0; i < question.temperatures.size(); ++i) {
    const double temperature = question.temperatures[i];
    using enum Table::Align;
    Table table{"",
                {{"method", left},
                 {"with", left},
                 {"tokens", right},
                 {"cost", right},
                 {"speedup", right},
                 {"95 %", left},
                 {"loss", right},
                 {"of bound", right}},
                {}};
    for (const MethodRow& row : answer.rows) {
      if (row.temperature == temperature) table.rows.push_back(method_cells(row));
    }
    text += (i == 0 ? "" : "\n") +
            wrapped(fmt::format("temperature {}, acceptance {}. {}\n", short_number_text(temperature),
                                decimal_text(answer.acceptances[i], 3), methods_headline(answer, temperature))) +
            "\n" + to_text(table);
  }
  const std::string cost =
      question.price.times.empty()
          ? fmt::format("a draft step of {} decode steps; a pass over {} positions takes {}",
                        short_number_text(question.price.c), question.price.verification.size(),
                        decimal_text(question.price.verification.back() / question.price.verification.front(), 2))
          : question.price.times;
  return text + "\n" + labeled("cost", "in decode steps of the target: " + cost) +
         labeled("loss",
                 "total variation of the tokens from the target's; a relaxed rule with its default parameters "
                 "(foredraft list rules)") +
         labeled("bound", "speedup that no method of its kind passes: docs/methods.md");
}

}  // namespace foredraft::app
