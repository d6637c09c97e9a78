// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <vector>

#include "analytic/cost/published_costs.hpp"
#include "analytic/cost/speedup_fit.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::array<std::string_view, 4> translation_directions{"en_de", "de_en", "en_ro", "ro_en"};
constexpr std::int64_t short_block = 10;
constexpr std::int64_t long_block = 25;

/// Root of a falling function.
template <class Function>
double root_of(Function f, double low, double high) {
  const auto [below, above] = boost::math::tools::bisect(f, low, high, boost::math::tools::eps_tolerance<double>(40));
  return 0.5 * (below + above);
}

/// The speed of one block size from the speed of another at equal acceptance; costs in tokens of plain decoding.
double speed_at_equal_acceptance(double speed, std::int64_t block, double cost, std::int64_t other_block,
                                 double other_cost) {
  return specdec_tokens(specdec_alpha(speed * cost, block), other_block) / other_cost;
}

/// Heads on the target draft almost for free: an iteration of k heads costs 1 + k * head_cost.
double heads_speed(double speed_short, double head_cost) {
  return speed_at_equal_acceptance(speed_short, short_block, 1.0 + static_cast<double>(short_block) * head_cost,
                                   long_block, 1.0 + static_cast<double>(long_block) * head_cost);
}

/// Rows of one baseline and system: k = 10, k = 25.
struct RowPair {
  std::size_t short_row;
  std::size_t long_row;
};

std::string speed_column(std::string_view direction) { return fmt::format("{}_speed_x", direction); }

void account_for_heads(TableAccount& account, const RowPair& rows) {
  const PublishedTable& table = account.published();
  const auto speed = [&](std::size_t row, std::string_view direction) {
    return table.number(row, speed_column(direction));
  };
  const double head_cost = root_of(
      [&](double cost) {
        return heads_speed(speed(rows.short_row, "en_de").value, cost) - speed(rows.long_row, "en_de").value;
      },
      1e-4, 0.05);
  for (const std::string_view direction : translation_directions) {
    const PrintedNumber at_short = speed(rows.short_row, direction);
    const PrintedNumber at_long = speed(rows.long_row, direction);
    const double ours = heads_speed(at_short.value, head_cost);
    account.cell(rows.short_row, speed_column(direction),
                 fitted_cell(at_short.value, "acceptance of this direction solved from this cell"));
    account.cell(
        rows.long_row, speed_column(direction),
        direction == "en_de"
            ? fitted_cell(ours, fmt::format("cost of a head, {:.4f} steps, solved from this cell", head_cost))
            : predicted_cell(ours, at_long, "acceptance from k = 10, cost of a head from EN-DE; finite sentences"));
  }
}

/// `scale`: cost of an iteration against that of Table 3, whose baseline has six decoder layers.
void account_for_blocks(TableAccount& account, const RowPair& rows, double scale, bool scale_from_en_de) {
  const PublishedTable& table = account.published();
  const analytic::Line cost = specdec_cost_line(published_table("emnlp_table3"));
  for (const std::string_view direction : translation_directions) {
    const PrintedNumber at_short = table.number(rows.short_row, speed_column(direction));
    const PrintedNumber at_long = table.number(rows.long_row, speed_column(direction));
    const double ours = speed_at_equal_acceptance(at_long.value, long_block, scale * specdec_cost(cost, long_block),
                                                  short_block, scale * specdec_cost(cost, short_block));
    account.cell(rows.long_row, speed_column(direction),
                 fitted_cell(at_long.value, "acceptance of this direction solved from this cell"));
    account.cell(
        rows.short_row, speed_column(direction),
        scale_from_en_de && direction == "en_de"
            ? fitted_cell(ours, fmt::format("cost of an iteration, {:.2f} times that of Table 3, solved from "
                                            "this cell",
                                            scale))
            : predicted_cell(ours, at_short, "acceptance from k = 25, cost line of Table 3; finite sentences"));
  }
}

double scale_of_shallow_decoder(const PublishedTable& table, const RowPair& rows) {
  const analytic::Line cost = specdec_cost_line(published_table("emnlp_table3"));
  const double at_short = table.number(rows.short_row, "en_de_speed_x").value;
  const double at_long = table.number(rows.long_row, "en_de_speed_x").value;
  return root_of(
      [&](double scale) {
        return speed_at_equal_acceptance(at_long, long_block, scale * specdec_cost(cost, long_block), short_block,
                                         scale * specdec_cost(cost, short_block)) -
               at_short;
      },
      0.5, 2.5);
}

}  // namespace

ExperimentResult emnlp_table1(const ExperimentSettings& /*settings*/) {
  TableAccount account("emnlp-table1", "emnlp_table1", {"baseline_block", "model", "beam", "k"});
  const PublishedTable& table = account.published();
  for (const std::string_view direction : translation_directions) {
    account.out_of_reach(fmt::format("{}_bleu", direction), "BLEU needs the trained models");
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.is_number(row, "beam")) account.cell(row, speed_column(direction), input_cell("baseline"));
    }
  }
  const auto pair_of = [&](std::string_view block, std::string_view model) {
    RowPair rows{.short_row = table.size(), .long_row = table.size()};
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.text(row, "baseline_block") != block || table.text(row, "model") != model) continue;
      (table.text(row, "k") == "10" ? rows.short_row : rows.long_row) = row;
    }
    return rows;
  };
  for (const std::string_view block : {"6+6 Transformer-base", "12+2 Transformer-base"}) {
    account_for_heads(account, pair_of(block, "Blockwise Decoding"));
    const RowPair rows = pair_of(block, "SpecDec");
    const bool shallow = block.starts_with("12");
    account_for_blocks(account, rows, shallow ? scale_of_shallow_decoder(table, rows) : 1.0, shallow);
  }
  return account.finish(
      "Speed and BLEU of four translation directions [Xia2023, Table 1]: each direction's acceptance from one block "
      "size predicts the other.");
}

namespace {

/// Rows of the printed table.
enum DrafterRowIndex : std::size_t { plain = 0, heads = 1, without_first = 2, without_second = 3, full = 4 };
constexpr std::array<std::size_t, 3> consistent_rows{heads, without_second, full};
constexpr Interval verify_range{0.1, 1000.0};

analytic::DrafterRow drafter_row(const PublishedTable& table, std::size_t row) {
  return {.tokens = table.number(row, "tok").value,
          .draft_time = table.number(row, "t_d").value,
          .speedup = table.number(row, "speed_x").value};
}

double eq4_speed(const PublishedTable& table, std::size_t row, const analytic::StepTimes& times) {
  return analytic::speedup_without_setup(table.number(row, "tok").value, table.number(row, "t_d").value, times.verify,
                                         times.step);
}

/// The t_v that explain these rows within their rounding.
std::optional<Interval> verify_times(const PublishedTable& table, const std::vector<std::size_t>& rows) {
  std::vector<analytic::Strip> strips;
  for (const std::size_t row : rows) {
    strips.push_back(analytic::step_times_strip(table.number(row, "tok").rounding, table.number(row, "t_d").rounding,
                                                table.number(row, "speed_x").rounding));
  }
  return analytic::feasible_x(strips, verify_range);
}

std::string range_text(const std::optional<Interval>& range) {
  return range ? fmt::format("t_v in [{:.2f}, {:.2f}]", range->low, range->high) : "no t_v";
}

}  // namespace

ExperimentResult emnlp_table2(const ExperimentSettings& /*settings*/) {
  TableAccount account("emnlp-table2", "emnlp_table2", {"model"});
  const PublishedTable& table = account.published();
  account.inputs("tok");
  account.inputs("t_d");
  account.out_of_reach("bleu", "BLEU needs the trained models");
  account.cell(plain, "speed_x", input_cell("baseline"));
  account.cell(
      plain, "tok",
      with_finding(input_cell(),
                   "Tok. is described as drafted tokens accepted per iteration; plain decoding drafts none and "
                   "prints 1.00, not 0: Tok. counts the verifier's own token too"));
  std::vector<analytic::DrafterRow> all;
  for (const std::size_t row : {heads, without_first, without_second, full}) all.push_back(drafter_row(table, row));
  const analytic::StepTimes least_squares = analytic::fit_step_times(all, verify_range);

  std::vector<analytic::DrafterRow> consistent;
  for (const std::size_t row : consistent_rows) {
    consistent.push_back(drafter_row(table, row));
    std::vector<analytic::DrafterRow> others;
    for (const std::size_t other : consistent_rows) {
      if (other != row) others.push_back(drafter_row(table, other));
    }
    const analytic::StepTimes times = analytic::fit_step_times(others, verify_range);
    account.cell(
        row, "speed_x",
        predicted_cell(eq4_speed(table, row, times), table.number(row, "speed_x"),
                       fmt::format("Eq. 4, t_v = {:.1f} and t_AR = {:.1f} (in units of t_d) from the two other "
                                   "consistent rows",
                                   times.verify, times.step)));
  }
  const analytic::StepTimes times = analytic::fit_step_times(consistent, verify_range);
  const double expected = eq4_speed(table, without_first, times);
  const auto three = verify_times(table, {consistent_rows.begin(), consistent_rows.end()});
  const auto four = verify_times(table, {heads, without_first, without_second, full});
  account.cell(without_first, "speed_x",
               with_finding(predicted_cell(expected, table.number(without_first, "speed_x"),
                                           "Eq. 4, t_v and t_AR from the three other rows"),
                            fmt::format("Eq. 4 with t_v = {:.1f}, t_AR = {:.1f} of the other rows gives {:.2f}; the "
                                        "three other rows agree within rounding ({}), all four do not ({})",
                                        times.verify, times.step, expected, range_text(three), range_text(four))));
  ExperimentResult result = account.finish(
      "Ablation of the drafter [Xia2023, Table 2]: speeds from Tok., t_d and one verification time [Xia2023, Eq. 4].");
  result.text += fmt::format(" all four rows by least squares: t_v = {:.1f}, t_AR = {:.1f}:", least_squares.verify,
                             least_squares.step);
  for (const std::size_t row : {heads, without_first, without_second, full}) {
    result.text += fmt::format(" {:.2f} (paper {})", eq4_speed(table, row, least_squares), table.text(row, "speed_x"));
  }
  result.text += "\n";
  return result;
}

namespace {

/// The rerun of a row of [Leviathan2023, Table 2]: its speed, and the draft cost that each of the two speeds implies.
std::string rerun_arithmetic(const PrintedNumber& speed, std::size_t original_row) {
  const PublishedTable original = published_table("leviathan_table2");
  const PrintedNumber alpha = original.number(original_row, "alpha");
  const auto gamma = static_cast<std::int64_t>(original.number(original_row, "gamma").value);
  const PrintedNumber printed = original.number(original_row, "speed_x");
  return fmt::format(
      "[Leviathan2023, Table 2] prints {} for the same task and drafter ({:+.0f} %); at its alpha {} and "
      "gamma {} the speeds need c = {:.3f} here and {:.3f} there",
      printed.text, 100.0 * (speed.value / printed.value - 1.0), alpha.text, gamma, implied_cost(alpha, gamma, speed).c,
      implied_cost(alpha, gamma, printed).c);
}

}  // namespace

ExperimentResult emnlp_table14(const ExperimentSettings& /*settings*/) {
  enum Row : std::size_t { greedy = 0, small_drafter = 1, large_drafter = 2, specdec = 3 };
  /// Rows of [Leviathan2023, Table 2]: EnDe at T = 0 with T5-small and T5-large.
  constexpr std::size_t original_small = 0;
  constexpr std::size_t original_large = 2;
  TableAccount account("emnlp-table14", "emnlp_table14", {"decoding_algorithm", "drafter"});
  const PublishedTable& table = account.published();
  account.inputs("drafter_size_b");
  account.out_of_reach("bleu", "BLEU needs the trained models");
  account.cell(greedy, "speed_x", input_cell("baseline"));
  account.cell(small_drafter, "speed_x",
               with_finding(unreachable_cell("their rerun"),
                            rerun_arithmetic(table.number(small_drafter, "speed_x"), original_small)));
  account.cell(large_drafter, "speed_x",
               with_finding(unreachable_cell("their rerun"),
                            rerun_arithmetic(table.number(large_drafter, "speed_x"), original_large)));
  account.cell(specdec, "speed_x", unreachable_cell("no tokens per iteration are printed"));
  constexpr double t5_small_b = 0.077;
  account.cell(
      small_drafter, "drafter_size_b",
      with_finding(input_cell(), fmt::format("[Leviathan2023] gives T5-small 77M parameters: {:.3f}, which rounds "
                                             "to 0.1 and is {:.0f} % smaller",
                                             t5_small_b, 100.0 * (1.0 - t5_small_b / 0.1))));
  return account.finish("SpecDec beside a rerun of Leviathan et al. [Xia2023, Table 14].");
}

namespace {

constexpr double data_centre_pue = 1.1;              // [Xia2023, App. F]
constexpr double carbon_intensity_g_per_wh = 0.385;  // the same

}  // namespace

ExperimentResult emnlp_table15(const ExperimentSettings& /*settings*/) {
  enum Row : std::size_t { greedy = 0, specdec = 1 };
  TableAccount account("emnlp-table15", "emnlp_table15", {"model", "gpu_type"});
  const PublishedTable& table = account.published();
  account.inputs("avg_power_w");
  account.inputs("gpu_hours_h");
  account.each("total_energy_wh", [&](std::size_t row) {
    return exact_cell(
        propagate_rounding({rounded(table.number(row, "avg_power_w")), rounded(table.number(row, "gpu_hours_h"))},
                           [](std::span<const double> x) {
                             return analytic::energy_wh({.power_w = x[0], .hours_h = x[1], .pue = data_centre_pue});
                           }),
        "power x hours x PUE 1.1");
  });
  account.each("carbon_g_co2eq", [&](std::size_t row) {
    return exact_cell(propagate_rounding({rounded(table.number(row, "total_energy_wh"))},
                                         [](std::span<const double> x) {
                                           return analytic::carbon_g(x[0], carbon_intensity_g_per_wh);
                                         }),
                      "0.385 g/Wh x printed energy");
  });
  const RoundedValue hours_ratio =
      rounded_quotient(rounded(table.number(greedy, "gpu_hours_h")), rounded(table.number(specdec, "gpu_hours_h")));
  const PublishedTable main = published_table("emnlp_table1");
  const RoundedValue main_ratio =
      rounded_quotient(rounded(main.number(5, "en_de_speed_x")), rounded(main.number(1, "en_de_speed_x")));
  account.remark(
      "App. F, \"GPU hours are 540% shorter\"",
      fmt::format("nothing is shortened by more than 100 %: {} / {} = {:.1f} ({:.1f} to {:.1f} within rounding), "
                  "so the hours are {:.1f} times fewer, {:.0f} % shorter; Table 1 has {} / {} = {:.1f} ({:.1f} "
                  "to {:.1f})",
                  table.text(greedy, "gpu_hours_h"), table.text(specdec, "gpu_hours_h"), hours_ratio.value,
                  hours_ratio.rounding.low, hours_ratio.rounding.high, hours_ratio.value,
                  100.0 * (1.0 - 1.0 / hours_ratio.value), main.text(5, "en_de_speed_x"), main.text(1, "en_de_speed_x"),
                  main_ratio.value, main_ratio.rounding.low, main_ratio.rounding.high));
  const double power_ratio = table.number(specdec, "avg_power_w").value / table.number(greedy, "avg_power_w").value;
  ExperimentResult result = account.finish(
      "Energy and carbon of EN-DE [Xia2023, Table 15]: power x hours x PUE, and 0.385 g of CO2 equivalent a Wh.");
  result.text += fmt::format(
      " power {:.2f} times as high, hours {:.1f} times fewer: energy {:.1f} % (paper 23.7 %); saves while power rises "
      "by "
      "less than the speedup\n",
      power_ratio, hours_ratio.value, 100.0 * analytic::energy_ratio(power_ratio, hours_ratio.value));
  return result;
}

}  // namespace foredraft::experiments
