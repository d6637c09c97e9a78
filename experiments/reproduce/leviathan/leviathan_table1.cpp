// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/artifacts.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/iid_run.hpp"
#include "experiments/reproduce/published.hpp"
#include "sim/estimates.hpp"

namespace foredraft::experiments {

/// alpha and gamma of this table are chosen, not measured, so they are taken as exact: the strictest reading.
ExperimentResult leviathan_table1(const ExperimentSettings& settings) {
  constexpr auto id = "leviathan-table1";
  constexpr double c = 0.0;
  constexpr double operations_ratio = 0.0;
  constexpr auto convention = Convention::bonus;
  constexpr auto drafting = Drafting::autoregressive;
  using enum Table::Align;
  const PublishedTable published = published_table("leviathan_table1");
  ExperimentResult result;
  Table table{.caption =
                  "Operations and speedup at c = c-hat = 0 [Leviathan2023, Table 1]: as printed, from the closed "
                  "form, and simulated with 95 % intervals.",
              .columns = {{"alpha", right},
                          {"gamma", right},
                          {"operations, paper", right},
                          {"operations, ours", right},
                          {"operations, verdict", left},
                          {"speedup, paper", right},
                          {"speedup, ours", right},
                          {"speedup, verdict", left},
                          {"speedup, simulated", right}},
              .rows = {}};
  DataText data({"alpha", "gamma", "operations_x", "operations_x_ours", "operations_x_verdict", "speed_x",
                 "speed_x_ours", "speed_x_verdict", "simulated_speed_x", "simulated_speed_x_standard_error"});
  for (std::size_t i = 0; i < published.size(); ++i) {
    const PrintedNumber alpha = published.number(i, "alpha");
    const PrintedNumber gamma_text = published.number(i, "gamma");
    const auto gamma = static_cast<std::int64_t>(gamma_text.value);
    const std::string name = fmt::format("alpha {} gamma {}", alpha.text, gamma_text.text);

    const double tokens =
        analytic::tokens_per_iteration({.alpha = alpha.value, .gamma = gamma, .convention = convention});
    const double operations = analytic::operations_factor(tokens, gamma, operations_ratio, convention);
    const double speedup = analytic::speedup(tokens, gamma, c, drafting);
    const Estimate simulated =
        sim::speedup(simulate({.alpha = alpha.value, .gamma = gamma, .iterations = 10'000'000, .point = i}, settings),
                     constant_ratio(c));

    result.rows.push_back(input_row(id, name, "alpha", alpha));
    result.rows.push_back(input_row(id, name, "gamma", gamma_text));
    const ScorecardRow& operations_row = result.rows.emplace_back(
        exact_row(id, name, "operations_x", published.number(i, "operations_x"), operations, {operations, operations}));
    const std::string operations_verdict(to_string(operations_row.verdict));
    ScorecardRow& speed_row = result.rows.emplace_back(
        exact_row(id, name, "speed_x", published.number(i, "speed_x"), speedup, {speedup, speedup}));
    const double half_width = normal_quantile(0.95) * simulated.standard_error;
    speed_row.note = fmt::format("simulated {:.5f} +- {:.5f}", simulated.mean, half_width);
    table.rows.push_back({alpha.text, gamma_text.text, published.text(i, "operations_x") + "x",
                          fmt::format("{:.4f}", operations), operations_verdict, published.text(i, "speed_x") + "x",
                          fmt::format("{:.4f}", speedup), std::string(to_string(speed_row.verdict)),
                          fmt::format("{:.4f} +- {:.4f}", simulated.mean, half_width)});
    data.row().cell(alpha.text).cell(gamma_text.text);
    data.cell(published.text(i, "operations_x")).cell(operations).cell(operations_verdict);
    data.cell(published.text(i, "speed_x")).cell(speedup).cell(to_string(speed_row.verdict)).cell(simulated);
  }
  result.text = "operations and speedup at c = c-hat = 0\n" + to_text(table);
  result.artifacts = table_artifacts(id, table, data);
  return result;
}

}  // namespace foredraft::experiments
