// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>
#include <span>
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

bool is_drafter_alone(const PublishedTable& table, std::size_t row) {
  return table.text(row, "model").starts_with("NAT drafter");
}

/// Columns of the printed iterations and speeds.
struct SpeedColumns {
  std::string iterations = "iterations";
  std::string speed = "speed_x";
};

/// The baseline's time, the one number that differs between the tables, that makes the module profile of
/// [Xia2022, Table 18] give the printed speed of a row.
double baseline_ms(const PublishedTable& table, std::size_t row, const SpeedColumns& columns = {}) {
  return table.value(row, columns.speed) *
         analytic::sentence_ms(specdec_profile(), table.value(row, columns.iterations));
}

/// The profile's speed at the printed iterations, of SpecDec or of its drafter's own output, unverified. Words: the
/// iterations, and of the drafter the speed with the profile's "Others" counted in.
Computed profile_speed(double plain_ms, const PublishedTable& table, std::size_t row,
                       const SpeedColumns& columns = {}) {
  const analytic::BlockLatency profile = specdec_profile();
  const double iterations = table.value(row, columns.iterations);
  if (!is_drafter_alone(table, row)) {
    return Computed(analytic::speedup(profile, iterations, plain_ms), {iterations, 0.0});
  }
  const double time = analytic::drafter_alone_ms(profile, iterations);
  return Computed(plain_ms / time, {iterations, plain_ms / (time + profile.fixed_ms)});
}

void iclr_table1(TableAccount& account, const ExperimentSettings& /*settings*/) {
  account.compute("speedup_rerun_x",
                  [&](std::size_t row) { return profile_speed(specdec_beam_ms(), account.published(), row); });
}

void iclr_table4(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const double plain_ms = baseline_ms(table, account.rows_of("speed_x", Kind::fitted).at(0));
  account.compute("speed_x", [&](std::size_t row) {
    return table.text(row, "group") == "Blockwise" ? Computed::of_words({1.1 * table.value(row, "speed_x")})
                                                   : profile_speed(plain_ms, table, row);
  });
}

void iclr_table8(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.compute("speed_x", [&](std::size_t row) {
    const std::string& direction = table.text(row, "direction");
    const std::size_t vanilla = table.row_where({{"direction", direction}, {"model", "SpecDec (*"}});
    Computed answer = profile_speed(baseline_ms(table, vanilla), table, row);
    answer.words.emplace_back(direction);
    return answer;
  });
}

void iclr_table10(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const SpeedColumns single{"single_teacher_iterations", "single_teacher_speed_x"};
  for (const SpeedColumns& columns : {single, SpeedColumns{"ensemble_iterations", "ensemble_speed_x"}}) {
    account.compute(columns.speed, [&](std::size_t row) {
      const std::string& size = table.text(row, "size");
      const std::size_t vanilla = table.row_where({{"size", size}, {"model", "SpecDec (*"}});
      Computed answer = profile_speed(baseline_ms(table, vanilla, single), table, row, columns);
      answer.words.insert(answer.words.end(),
                          {size, table.text(row, columns.iterations), table.text(row, single.speed)});
      answer.finding = table.text(row, single.iterations) == table.text(row, columns.iterations) &&
                       !intersects(table.number(row, single.speed).rounding, table.number(row, columns.speed).rounding);
      return answer;
    });
  }
}

/// Inverse speed as a line in the printed iterations, through the two rows that are declared to be fitted.
struct InverseSpeedLine {
  analytic::Line line;
  Fillings words;
};

InverseSpeedLine inverse_speed_line(const TableAccount& account) {
  const PublishedTable& table = account.published();
  const std::vector<std::size_t> rows = account.rows_of("speed_x", Kind::fitted);
  const auto iterations = [&](std::size_t i) { return table.value(rows.at(i), "iterations"); };
  const auto inverse = [&](std::size_t i) { return 1.0 / table.value(rows.at(i), "speed_x"); };
  const analytic::Line line =
      analytic::least_squares_line(std::array{iterations(0), iterations(1)}, std::array{inverse(0), inverse(1)});
  return {line,
          {line.intercept, line.slope, table.text(rows.at(0), "iterations"), table.text(rows.at(1), "iterations")}};
}

/// Rows of Tables 6 and 11 that print a speed of SpecDec.
std::vector<std::size_t> specdec_rows(const PublishedTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "model").starts_with("SpecDec")) rows.push_back(row);
  }
  return rows;
}

void iclr_table6(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const auto [line, words] = inverse_speed_line(account);
  account.compute("speed_x", [&, &line = line, &words = words](std::size_t row) {
    const double iterations = table.value(row, "iterations");
    if (!is_drafter_alone(table, row)) return Computed(1.0 / (line.intercept + line.slope * iterations), words);
    // The line's iteration and setup, split between drafter and verifier as in the profile.
    const analytic::BlockLatency profile = specdec_profile();
    const double draft_share = profile.draft_ms / analytic::iteration_ms(profile);
    const double encoder_share = profile.drafter_encoder_ms / analytic::setup_ms(profile);
    const double time = encoder_share * line.intercept + draft_share * line.slope * iterations;
    return Computed(1.0 / time, words);
  });
  std::vector<analytic::Strip> strips;
  for (const std::size_t row : specdec_rows(table)) {
    strips.push_back(analytic::inverse_speedup_strip(table.number(row, "iterations").rounding,
                                                     table.number(row, "speed_x").rounding));
  }
  const auto slopes = analytic::feasible_x(strips, {0.0, 1.0});
  slopes ? account.add_text("one_line", {*slopes}) : account.add_text("no_line");
}

void iclr_table11(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  // Encoders twice as deep, decoders a third: every module in proportion to its layers.
  const analytic::BlockLatency base = specdec_profile();
  const analytic::BlockLatency by_layers{.target_encoder_ms = 2.0 * base.target_encoder_ms,
                                         .drafter_encoder_ms = 2.0 * base.drafter_encoder_ms,
                                         .draft_ms = base.draft_ms / 3.0,
                                         .verify_ms = base.verify_ms / 3.0,
                                         .overhead_ms = 0.0,
                                         .fixed_ms = base.fixed_ms};
  const auto [line, words] = inverse_speed_line(account);
  account.compute("speed_x", [&, &line = line, &words = words](std::size_t row) {
    const double iterations = table.value(row, "iterations");
    return is_drafter_alone(table, row)
               ? Computed(specdec_beam_ms() / analytic::drafter_alone_ms(by_layers, iterations))
               : Computed(1.0 / (line.intercept + line.slope * iterations), words);
  });
  std::string speeds;
  for (const std::size_t row : specdec_rows(table)) {
    speeds += fmt::format(" {:.1f} (paper {})",
                          analytic::speedup(by_layers, table.value(row, "iterations"), specdec_beam_ms()),
                          table.text(row, "speed_x"));
  }
  account.add_text("by_layers", {speeds});
}

void iclr_table5(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  constexpr std::size_t third_lightweight = 7;
  const std::size_t vanilla = account.rows_of("iterations", Kind::fitted).at(0);
  const auto length_of = [&](std::size_t row) {
    return evaluate([](const Cells& at) { return at("tok") * at("iterations"); }, table, row);
  };
  const RoundedValue length = length_of(vanilla);
  account.exact(
      "iterations", [&](const Cells& at) { return at(vanilla, "tok") * at(vanilla, "iterations") / at("tok"); },
      [&](std::size_t row) {
        return Fillings{length,
                        table.text(row, "tok"),
                        length_of(row),
                        table.text(third_lightweight, "tok"),
                        table.text(third_lightweight, "iterations"),
                        length_of(third_lightweight).value};
      });
  account.compute("iterations",
                  [&](std::size_t row) { return Computed(length.value / table.value(row, "tok"), {length}); });
}

void iclr_table18(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const std::size_t total = table.size() - 1;
  const auto sum_of = [total](const Cells& at, std::string_view column) {
    double sum = 0.0;
    for (std::size_t module = 0; module < total; ++module) sum += at(module, column);
    return sum;
  };
  account.exact("latency_ms", [&](const Cells& at) { return sum_of(at, "latency_ms"); });
  account.exact(
      "percent",
      [&](const Cells& at) {
        return at.row() == total ? sum_of(at, "percent") : 100.0 * (at("latency_ms") / at(total, "latency_ms"));
      },
      [&](std::size_t row) {
        double others = 0.0;
        for (std::size_t module = 0; module < total; ++module) {
          if (module != row) others += table.value(module, "percent");
        }
        return Fillings{table.text(row, "latency_ms"), table.text(total, "latency_ms"), others, 100.0 - others};
      });
  const analytic::BlockLatency profile = specdec_profile();
  const double sentence = table.value(total, "latency_ms");
  const double encoders = profile.target_encoder_ms + profile.drafter_encoder_ms;
  const double gain = analytic::parallel_encoders_gain_ms(profile);
  account.add_text("passes", {profile.draft_ms, profile.verify_ms, 100.0 * encoders / sentence, gain,
                              100.0 * gain / sentence, analytic::speedup_limit(profile, specdec_beam_ms())});
}

/// Rows of the tables of peaks.
enum MemoryRow : std::size_t { plain_decoding = 0, speculation = 1, delta = 2 };
constexpr std::int64_t small_batch = 1;
constexpr std::int64_t large_batch = 32;

std::string peak_column(std::int64_t batch) { return fmt::format("peak_mb_batch_{}", batch); }

/// `more`: words of the finding besides the difference.
void printed_delta(TableAccount& account, const std::string& column, const Fillings& more = {}) {
  Fillings words{account.published().text(speculation, column), account.published().text(plain_decoding, column)};
  words.insert(words.end(), more.begin(), more.end());
  account.exact(
      column, [&](const Cells& at) { return at(speculation, column) - at(plain_decoding, column); },
      [&](std::size_t) { return words; });
}

/// What a column of peaks grows by beyond the weights.
double above_weights(const PublishedTable& table, const std::string& column) {
  const auto growth = [&](const std::string& of) {
    return table.value(speculation, of) - table.value(plain_decoding, of);
  };
  return growth(column) - growth("model_weights_mb");
}

void translation_memory(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const PublishedTable& sister = published_table(account.declared().text("sister"));
  printed_delta(account, "model_weights_mb");
  for (const std::int64_t batch : {1, 4, 8, 16, 32}) {
    const std::string column = peak_column(batch);
    printed_delta(
        account, column,
        {above_weights(table, column), sister.value(delta, column) - sister.value(delta, "model_weights_mb")});
    // Peaks linear in the batch, through batch 1 and 32.
    account.compute(column, [&](std::size_t row) {
      const double weights = table.value(row, "model_weights_mb");
      const analytic::PeakMemory memory =
          analytic::peak_memory_through(weights, small_batch, table.value(row, peak_column(small_batch)), large_batch,
                                        table.value(row, peak_column(large_batch)));
      const double ours = analytic::peak_memory(memory, batch);
      const double printed = table.value(row, column);
      return Computed(ours, {memory.fixed, memory.per_row, 100.0 * (ours - printed) / (printed - weights)});
    });
  }
  // What the block itself can add: the drafter's encoder output and the block's logits, in MB of 10^6 bytes and single
  // precision.
  constexpr std::int64_t source_tokens = 128;
  constexpr std::int64_t width = 512;
  constexpr std::int64_t vocabulary = 32'000;
  constexpr std::int64_t block = 25;
  constexpr std::int64_t single_precision = 4;
  constexpr double mb = 1e6;
  for (const std::int64_t batch : {small_batch, large_batch}) {
    account.add_text("above_weights",
                     {batch, above_weights(table, peak_column(batch)),
                      analytic::encoder_output_bytes(batch, source_tokens, width, single_precision) / mb,
                      analytic::block_logits_bytes(batch, block, vocabulary, single_precision) / mb});
  }
}

void summarisation_memory(TableAccount& account, const ExperimentSettings& /*settings*/) {
  for (const std::string column : {"model_weights_mb", "memory_cost_mb"}) printed_delta(account, column);
}

constexpr double capacity_gb_mb = 48'000.0;   // 48 GB in MB
constexpr double capacity_gib_mb = 49'152.0;  // 48 GiB in MiB

/// The capacities for which the printed memory gives the printed percentage in every column.
Interval capacities_mb(const PublishedTable& table) {
  Interval all{0.0, std::numeric_limits<double>::infinity()};
  for (const char* column : {"batch_1", "batch_32"}) {
    const Interval memory = table.number(table.row_where({{"statistic", "memory_util_mb"}}), column).rounding;
    const Interval percent = table.number(table.row_where({{"statistic", "memory_util_percent"}}), column).rounding;
    all = {std::max(all.low, 100.0 * memory.low / percent.high), std::min(all.high, 100.0 * memory.high / percent.low)};
  }
  return all;
}

/// The sister table has the other task on the same device.
void large_model(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  for (const char* column : {"batch_1", "batch_32"}) {
    account.compute(column, [&](std::size_t row) {
      const PrintedNumber memory = table.number(row - 1, column);
      const RoundedValue of_gb = rounded(memory, 100.0 / capacity_gb_mb);
      const RoundedValue of_gib = rounded(memory, 100.0 / capacity_gib_mb);
      const Interval printed = table.number(row, column).rounding;
      const bool gib = !intersects(of_gb.rounding, printed) && intersects(of_gib.rounding, printed);
      return Computed(gib ? of_gib : of_gb, {gib ? "49,152" : "48,000", memory, of_gb.value, of_gib.value});
    });
  }
  account.add_text("capacities",
                   {capacities_mb(table), capacities_mb(published_table(account.declared().text("sister")))});
}

}  // namespace

ExperimentCodes specdec_tables() {
  return {
      {"emnlp-table1", emnlp_table1},       {"emnlp-table2", emnlp_table2},         {"emnlp-table3", emnlp_table3},
      {"emnlp-table4", emnlp_table4},       {"emnlp-table5", emnlp_table5},         {"emnlp-table6", emnlp_table6},
      {"emnlp-table8", translation_memory}, {"emnlp-table9", summarisation_memory}, {"emnlp-table10", large_model},
      {"emnlp-table11", large_model},       {"emnlp-table14", emnlp_table14},       {"emnlp-table15", emnlp_table15},
      {"iclr-table1", iclr_table1},         {"iclr-table2", iclr_table2},           {"iclr-table3", iclr_table3},
      {"iclr-table4", iclr_table4},         {"iclr-table5", iclr_table5},           {"iclr-table6", iclr_table6},
      {"iclr-table8", iclr_table8},         {"iclr-table10", iclr_table10},         {"iclr-table11", iclr_table11},
      {"iclr-table14", translation_memory}, {"iclr-table15", summarisation_memory}, {"iclr-table16", large_model},
      {"iclr-table17", large_model},        {"iclr-table18", iclr_table18}};
}

}  // namespace foredraft::experiments
