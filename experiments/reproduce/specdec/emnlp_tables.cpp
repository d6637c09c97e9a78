// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <vector>

#include "analytic/cost/published_costs.hpp"
#include "analytic/cost/speedup_fit.hpp"
#include "experiments/reproduce/iid_answers.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {
namespace {

/// Root of a falling function.
template <class Function>
double root_of(Function f, double low, double high) {
  const auto [below, above] = boost::math::tools::bisect(f, low, high, boost::math::tools::eps_tolerance<double>(40));
  return 0.5 * (below + above);
}

/// Cost of an iteration in tokens of plain decoding, up to one parameter.
using BlockCost = double (*)(double parameter, std::int64_t block);

/// Heads on the target draft almost for free: the parameter is what one head costs.
double heads_cost(double head, std::int64_t block) { return 1.0 + static_cast<double>(block) * head; }

/// That of Table 3, whose baseline has six decoder layers, times the parameter.
double block_cost(double scale, std::int64_t block) {
  return scale * specdec_cost(specdec_cost_line(published_table("emnlp_table3")), block);
}

/// The printed row that gives each direction its acceptance, and the one that is computed from it.
struct BlockSizes {
  std::size_t known;
  std::size_t other;
  BlockCost cost;
};

double speed_at_equal_acceptance(const PublishedTable& table, const BlockSizes& rows, const std::string& column,
                                 double parameter) {
  const std::int64_t known = table.count(rows.known, "k");
  const std::int64_t other = table.count(rows.other, "k");
  const double alpha = specdec_alpha(table.value(rows.known, column) * rows.cost(parameter, known), known);
  return specdec_tokens(alpha, other) / rows.cost(parameter, other);
}

/// Solved from the speed of EN-DE where the table does not say it.
double cost_parameter(const PublishedTable& table, const BlockSizes& rows) {
  const bool heads = rows.cost == heads_cost;
  if (!heads && table.text(rows.other, "baseline_block").starts_with("6+6")) return 1.0;
  const auto excess = [&](double parameter) {
    return speed_at_equal_acceptance(table, rows, "en_de_speed_x", parameter) -
           table.value(rows.other, "en_de_speed_x");
  };
  return heads ? root_of(excess, 1e-4, 0.05) : root_of(excess, 0.5, 2.5);
}

void emnlp_table1(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  for (const std::string column : {"en_de_speed_x", "de_en_speed_x", "en_ro_speed_x", "ro_en_speed_x"}) {
    account.compute(column, [&](std::size_t row) {
      const std::string& model = table.text(row, "model");
      const bool heads = model == "Blockwise Decoding";
      const std::size_t known = table.row_where(
          {{"baseline_block", table.text(row, "baseline_block")}, {"model", model}, {"k", heads ? "10" : "25"}});
      if (row == known) return Computed(table.value(row, column));
      const BlockSizes rows{.known = known, .other = row, .cost = heads ? heads_cost : block_cost};
      const double parameter = cost_parameter(table, rows);
      return Computed(speed_at_equal_acceptance(table, rows, column, parameter), {parameter});
    });
  }
}

/// Without the one that Eq. 4 cannot explain beside the others.
constexpr std::array<std::size_t, 3> consistent_rows{1, 3, 4};
constexpr std::array<std::size_t, 4> drafter_rows{1, 2, 3, 4};
constexpr Interval verify_range{0.1, 1000.0};

double eq4_speed(const PublishedTable& table, std::size_t row, const analytic::StepTimes& times) {
  return analytic::speedup_without_setup(table.value(row, "tok"), table.value(row, "t_d"), times.verify, times.step);
}

/// Least squares over some rows, without one of them.
analytic::StepTimes step_times(const PublishedTable& table, std::span<const std::size_t> rows, std::size_t without) {
  std::vector<analytic::DrafterRow> drafters;
  for (const std::size_t row : rows) {
    if (row == without) continue;
    drafters.push_back({.tokens = table.value(row, "tok"),
                        .draft_time = table.value(row, "t_d"),
                        .speedup = table.value(row, "speed_x")});
  }
  return analytic::fit_step_times(drafters, verify_range);
}

/// The t_v that explain these rows within their rounding.
std::string verify_times(const PublishedTable& table, std::span<const std::size_t> rows) {
  std::vector<analytic::Strip> strips;
  for (const std::size_t row : rows) {
    strips.push_back(analytic::step_times_strip(table.number(row, "tok").rounding, table.number(row, "t_d").rounding,
                                                table.number(row, "speed_x").rounding));
  }
  const auto range = analytic::feasible_x(strips, verify_range);
  return range ? fmt::format("t_v in [{:.2f}, {:.2f}]", range->low, range->high) : "no t_v";
}

void emnlp_table2(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.compute("speed_x", [&](std::size_t row) {
    const analytic::StepTimes times = step_times(table, consistent_rows, row);
    return Computed(eq4_speed(table, row, times), {times.verify, times.step, verify_times(table, consistent_rows),
                                                   verify_times(table, drafter_rows)});
  });
  const analytic::StepTimes all = step_times(table, drafter_rows, table.size());
  std::string speeds;
  for (const std::size_t row : drafter_rows) {
    speeds += fmt::format(" {:.2f} (paper {})", eq4_speed(table, row, all), table.text(row, "speed_x"));
  }
  account.add_text("least_squares", {all.verify, all.step, speeds});
}

/// Tok against k from the acceptance at k = 25; speed from the printed Tok and a cost line through k = 10 and 25.
void block_sizes(TableAccount& account) {
  const PublishedTable& table = account.published();
  const std::array rows{table.row_where({{"k", "10"}}), table.row_where({{"k", "25"}})};
  const auto cost_of = [&](std::size_t row) { return table.value(row, "tok") / table.value(row, "speed_x"); };
  const double alpha = specdec_alpha(table.value(rows[1], "tok"), table.count(rows[1], "k"));
  const analytic::Line cost = analytic::least_squares_line(
      std::array{table.value(rows[0], "k"), table.value(rows[1], "k")}, std::array{cost_of(rows[0]), cost_of(rows[1])});
  account.compute("tok", [&](std::size_t row) {
    return Computed(row == rows[1] ? table.value(row, "tok") : specdec_tokens(alpha, table.count(row, "k")),
                    {alpha, specdec_mean_tokens()});
  });
  account.compute("speed_x", [&](std::size_t row) {
    return Computed(table.value(row, "tok") / specdec_cost(cost, table.count(row, "k")), {cost.intercept, cost.slope});
  });
}

void emnlp_table3(TableAccount& account, const ExperimentSettings& /*settings*/) { block_sizes(account); }

void iclr_table2(TableAccount& account, const ExperimentSettings& /*settings*/) {
  block_sizes(account);
  const PublishedTable& other = published_table("iclr_table3");
  account.compute("bleu", [&](std::size_t row) {
    return Computed::of_words({other.text(0, "bleu"), other.text(0, "tok"), account.published().text(row, "tok"),
                               other.value(0, "bleu") - account.published().value(row, "bleu")});
  });
}

constexpr std::int64_t verification_block = 25;

/// Vanilla verification is the best token alone.
sim::TopBetaRule rule_of_row(const PublishedTable& table, std::size_t row) {
  if (!table.is_number(row, "top_beta")) return {.top_beta = 1, .tolerance = 0.0};
  return {.top_beta = table.count(row, "top_beta"), .tolerance = table.value(row, "tau")};
}

void relaxed_verification(TableAccount& account, std::uint64_t seed) {
  const PublishedTable& table = account.published();
  const sim::LadderContexts contexts(ladder_contexts, ladder_ranks, seed);
  const std::vector<std::size_t> fitted = account.rows_of("tok", Kind::fitted);
  std::array<LadderTarget, 3> targets{};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i] = {.rule = rule_of_row(table, fitted.at(i)),
                  .acceptance = specdec_alpha(table.value(fitted.at(i), "tok"), verification_block)};
  }
  const sim::LogitLadder ladder = fit_ladder(contexts, targets);
  account.compute("tok", [&](std::size_t row) {
    return Computed(specdec_tokens(contexts.acceptance(ladder, rule_of_row(table, row)), verification_block),
                    {ladder.spread, ladder.noise, ladder.unlike});
  });
}

void emnlp_table4(TableAccount& account, const ExperimentSettings& settings) {
  relaxed_verification(account, settings.seed);
  const double cost = block_cost(1.0, verification_block);
  account.compute("speed_x",
                  [&](std::size_t row) { return Computed(account.published().value(row, "tok") / cost, {cost}); });
}

void iclr_table3(TableAccount& account, const ExperimentSettings& settings) {
  relaxed_verification(account, settings.seed);
  const PublishedTable& other = published_table("iclr_table2");
  account.compute("bleu", [&](std::size_t) {
    return Computed::of_words({other.text(4, "bleu"), other.text(4, "tok")});
  });
  // Verifier 0.60, 0.25, 0.10 on its three best tokens; the draft a fourth one.
  constexpr double best = 0.60;
  constexpr double third = 0.10;
  constexpr double verifier = 0.02;
  constexpr double drafter = 0.70;
  account.remark("Eq. 6 and 7 of [Xia2022]",
                 account.declared().text("two_rules", {drafter, verifier, best, third, std::log(best / drafter),
                                                       std::log(best / verifier)}));
}

void emnlp_table5(TableAccount& account, const ExperimentSettings& /*settings*/) {
  constexpr std::size_t greedy_decoding = 1;  // to which the printed differences refer
  const PublishedTable& table = account.published();
  for (const std::string metric : {"rouge1", "rouge2", "rougeL"}) {
    account.exact(
        metric + "_delta", [&](const Cells& at) { return at(metric) - at(greedy_decoding, metric); },
        [&](std::size_t row) {
          return Fillings{table.text(row, metric), table.text(greedy_decoding, metric)};
        });
  }
}

void emnlp_table6(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.compute("relative_bleu", [&](std::size_t row) {
    // The first row is the reference itself, the last one SpecDec.
    std::size_t highest = row;
    for (std::size_t other = 1; other + 1 < table.size(); ++other) {
      if (table.value(other, "relative_bleu") > table.value(highest, "relative_bleu")) highest = other;
    }
    constexpr double said = 55.0;
    return Computed::of_words({said, table.text(row, "relative_bleu"), table.text(highest, "relative_bleu"),
                               table.value(row, "relative_bleu") - said});
  });
}

void emnlp_table14(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  // The rerun of a row of [Leviathan2023, Table 2], and the draft cost that each of the two speeds implies.
  account.compute("speed_x", [&](std::size_t row) {
    const PublishedTable& original = published_table("leviathan_table2");
    const std::string drafter = table.text(row, "drafter") == "T5-Small" ? "T5-small" : "T5-large";
    const std::size_t there = original.row_where({{"task", "EnDe"}, {"approx_model", drafter}, {"temperature", "0"}});
    const PrintedNumber speed = table.number(row, "speed_x");
    const PrintedNumber printed = original.number(there, "speed_x");
    const PrintedNumber alpha = original.number(there, "alpha");
    const std::int64_t gamma = original.count(there, "gamma");
    return Computed::of_words({printed, 100.0 * (speed.value / printed.value - 1.0), alpha, gamma,
                               implied_cost(alpha, gamma, speed).c, implied_cost(alpha, gamma, printed).c});
  });
  constexpr double t5_small_b = 0.077;
  account.compute("drafter_size_b", [](std::size_t) {
    return Computed::of_words({t5_small_b, 100.0 * (1.0 - t5_small_b / 0.1)});
  });
}

void emnlp_table15(TableAccount& account, const ExperimentSettings& /*settings*/) {
  constexpr double data_centre_pue = 1.1;              // [Xia2023, App. F]
  constexpr double carbon_intensity_g_per_wh = 0.385;  // the same
  const PublishedTable& table = account.published();
  account.exact("total_energy_wh", [](const Cells& at) {
    return analytic::energy_wh({.power_w = at("avg_power_w"), .hours_h = at("gpu_hours_h"), .pue = data_centre_pue});
  });
  account.exact("carbon_g_co2eq",
                [](const Cells& at) { return analytic::carbon_g(at("total_energy_wh"), carbon_intensity_g_per_wh); });
  const PublishedTable& main = published_table("emnlp_table1");
  const RoundedValue hours =
      evaluate([](const Cells& at) { return at(0, "gpu_hours_h") / at(1, "gpu_hours_h"); }, table);
  const RoundedValue speed =
      evaluate([](const Cells& at) { return at(5, "en_de_speed_x") / at(1, "en_de_speed_x"); }, main);
  const double times = hours.value;
  account.remark("App. F, \"GPU hours are 540% shorter\"",
                 account.declared().text("shorter", {table.text(0, "gpu_hours_h"), table.text(1, "gpu_hours_h"), hours,
                                                     times, 100.0 * (1.0 - 1.0 / times), main.text(5, "en_de_speed_x"),
                                                     main.text(1, "en_de_speed_x"), speed}));
  const double power = table.value(1, "avg_power_w") / table.value(0, "avg_power_w");
  account.add_text("power", {power, times, 100.0 * analytic::energy_ratio(power, times)});
}

}  // namespace

TableCodes emnlp_tables() {
  return {{"emnlp-table1", emnlp_table1},   {"emnlp-table2", emnlp_table2},   {"emnlp-table3", emnlp_table3},
          {"emnlp-table4", emnlp_table4},   {"emnlp-table5", emnlp_table5},   {"emnlp-table6", emnlp_table6},
          {"emnlp-table14", emnlp_table14}, {"emnlp-table15", emnlp_table15}, {"iclr-table2", iclr_table2},
          {"iclr-table3", iclr_table3}};
}

}  // namespace foredraft::experiments
