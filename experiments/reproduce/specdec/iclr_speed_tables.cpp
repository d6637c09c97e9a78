// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <vector>

#include "analytic/cost/speedup_fit.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::string_view bleu_needs_models = "BLEU needs the trained models";
constexpr std::string_view rouge_needs_models = "ROUGE needs the trained models";

void bleu_out_of_reach(TableAccount& account, std::initializer_list<std::string_view> columns,
                       std::string_view why = bleu_needs_models) {
  for (const std::string_view column : columns) account.out_of_reach(column, std::string(why));
}

bool is_drafter_alone(const std::string& model) { return model.starts_with("NAT drafter"); }

bool is_speculative(const std::string& model) { return model.starts_with("SpecDec"); }

// The three rows of SpecDec in Tables 6 and 11, from many iterations to few.
constexpr std::size_t slow_row = 5;
constexpr std::size_t middle_row = 6;
constexpr std::size_t fast_row = 7;

/// Inverse speed as a line in the printed iterations.
struct InverseSpeedLine {
  analytic::Line line;
  std::string text;

  /// What the line says of one of the three rows: a prediction of the one that it was not drawn through.
  [[nodiscard]] CellAnswer answer(std::size_t row, double iterations, const PrintedNumber& printed) const {
    const double ours = 1.0 / (line.intercept + line.slope * iterations);
    return row == middle_row ? predicted_cell(ours, printed, text) : fitted_cell(ours, text);
  }
};

InverseSpeedLine inverse_speed_line(const PublishedTable& table) {
  const auto iterations = [&](std::size_t row) { return table.number(row, "iterations").value; };
  const auto inverse = [&](std::size_t row) { return 1.0 / table.number(row, "speed_x").value; };
  const analytic::Line line = analytic::least_squares_line(std::array{iterations(slow_row), iterations(fast_row)},
                                                           std::array{inverse(slow_row), inverse(fast_row)});
  return {.line = line,
          .text = fmt::format("1/S = {:.4f} + {:.5f} N, the line through N = {} and {}", line.intercept, line.slope,
                              table.text(slow_row, "iterations"), table.text(fast_row, "iterations"))};
}

}  // namespace

ExperimentResult iclr_table1(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table1", "iclr_table1", {"group", "model"});
  const PublishedTable& table = account.published();
  account.inputs("iterations");
  account.out_of_reach("speedup_reported_x", "another paper's measurement");
  bleu_out_of_reach(account, {"bleu_en_de", "bleu_de_en", "bleu_en_ro", "bleu_ro_en"});
  const ProfileSpeed profile(specdec_beam_ms(), "the profile of Table 18 and its 4.5x");
  account.each("speedup_rerun_x", [&](std::size_t row) {
    const std::string& model = table.text(row, "model");
    const PrintedNumber printed = table.number(row, "speedup_rerun_x");
    if (table.text(row, "group") != "Ours") {
      return table.is_number(row, "iterations") ? unreachable_cell("their rerun of another system")
                                                : input_cell("baseline");
    }
    if (!table.is_number(row, "iterations")) return input_cell("baseline");
    const double iterations = table.number(row, "iterations").value;
    if (is_drafter_alone(model)) return profile.drafter_alone(iterations, printed);
    if (model == "SpecDec++ (k = 25 high-efficiency)") {
      return fitted_cell(profile.speed(iterations), "turns the profile's total into the baseline's time");
    }
    return profile.predict(iterations, printed);
  });
  return account.finish(
      "Main results of the ICLR submission [Xia2022, Table 1]: speeds from the module profile [Xia2022, Table 18] and "
      "the printed iterations.");
}

ExperimentResult iclr_table4(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table4", "iclr_table4", {"group", "model", "k", "top_beta", "tau"});
  const PublishedTable& table = account.published();
  account.inputs("iterations");
  account.inputs("speed_from_original_paper");
  bleu_out_of_reach(account, {"bleu"});
  constexpr std::size_t fitted_row = 11;  // SpecDec, k = 30
  const ProfileSpeed profile =
      ProfileSpeed::through(table.number(fitted_row, "iterations"), table.number(fitted_row, "speed_x"),
                            "the profile of Table 18, scaled to "
                            "SpecDec at k = 30");
  account.each("speed_x", [&](std::size_t row) {
    const PrintedNumber printed = table.number(row, "speed_x");
    if (table.text(row, "group") == "Blockwise") {
      return with_finding(unreachable_cell("the original paper's measurement"),
                          fmt::format("taken from the original paper, for k = 1, 2 and 10 only, and relative to greedy "
                                      "decoding; against the beam baseline of the other rows it would be {} x 1.1 = "
                                      "{:.2f}",
                                      printed.text, 1.1 * printed.value));
    }
    if (!table.is_number(row, "iterations")) return input_cell("baseline");
    const double iterations = table.number(row, "iterations").value;
    if (is_drafter_alone(table.text(row, "model"))) return profile.drafter_alone(iterations, printed);
    if (row == fitted_row) return fitted_cell(profile.speed(iterations), "time of the baseline solved from this cell");
    return profile.predict(iterations, printed);
  });
  return account.finish(
      "Transformer-big [Xia2022, Table 4]: speeds from the shape of the module profile and the printed iterations.");
}

ExperimentResult iclr_table6(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table6", "iclr_table6", {"group", "model", "k", "top_beta", "tau"});
  const PublishedTable& table = account.published();
  account.inputs("iterations");
  bleu_out_of_reach(account, {"rouge1", "rouge2", "rougeL"}, rouge_needs_models);
  const InverseSpeedLine inverse_speed = inverse_speed_line(table);
  std::vector<analytic::Strip> strips;
  for (const std::size_t row : {slow_row, middle_row, fast_row}) {
    strips.push_back(analytic::inverse_speedup_strip(table.number(row, "iterations").rounding,
                                                     table.number(row, "speed_x").rounding));
  }
  account.each("speed_x", [&](std::size_t row) {
    const PrintedNumber printed = table.number(row, "speed_x");
    if (!table.is_number(row, "iterations")) return input_cell("baseline");
    const double iterations = table.number(row, "iterations").value;
    if (is_drafter_alone(table.text(row, "model"))) {
      // The line's iteration and setup, split between drafter and verifier as in the profile.
      const analytic::BlockLatency profile = specdec_profile();
      const double draft_share = profile.draft_ms / analytic::iteration_ms(profile);
      const double encoder_share = profile.drafter_encoder_ms / analytic::setup_ms(profile);
      const analytic::Line& line = inverse_speed.line;
      const double time = encoder_share * line.intercept + draft_share * line.slope * iterations;
      return predicted_cell(1.0 / time, printed, inverse_speed.text + ", the drafter's shares as in Table 18");
    }
    return inverse_speed.answer(row, iterations, printed);
  });
  ExperimentResult result = account.finish(
      "Summarisation, ICLR submission [Xia2022, Table 6]: inverse speed is a line in the printed iterations.");
  const auto slopes = analytic::feasible_x(strips, {0.0, 1.0});
  result.text += slopes ? fmt::format(" one line explains all three rows within rounding: slope {:.4f} to {:.4f}\n",
                                      slopes->low, slopes->high)
                        : " no line explains all three rows within rounding\n";
  return result;
}

ExperimentResult iclr_table8(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table8", "iclr_table8", {"benchmark", "direction", "model", "top_beta", "tau"});
  const PublishedTable& table = account.published();
  account.inputs("iterations");
  bleu_out_of_reach(account, {"bleu"});
  for (std::size_t first = 0; first < table.size(); first += 5) {
    const std::size_t vanilla = first + 2;
    const ProfileSpeed profile = ProfileSpeed::through(
        table.number(vanilla, "iterations"), table.number(vanilla, "speed_x"),
        fmt::format("the profile of Table 18, scaled to SpecDec {}", table.text(first, "direction")));
    for (std::size_t row = first; row < first + 5; ++row) {
      const PrintedNumber printed = table.number(row, "speed_x");
      if (!table.is_number(row, "iterations")) {
        account.cell(row, "speed_x", input_cell("baseline"));
        continue;
      }
      const double iterations = table.number(row, "iterations").value;
      if (row == vanilla) {
        account.cell(row, "speed_x",
                     fitted_cell(profile.speed(iterations), "time of the baseline solved from this cell"));
      } else if (is_drafter_alone(table.text(row, "model"))) {
        account.cell(row, "speed_x", profile.drafter_alone(iterations, printed));
      } else {
        account.cell(row, "speed_x", profile.predict(iterations, printed));
      }
    }
  }
  return account.finish(
      "Four directions in detail [Xia2022, Table 8]: one baseline time a direction, all else from the module profile.");
}

ExperimentResult iclr_table10(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table10", "iclr_table10", {"size", "model"});
  const PublishedTable& table = account.published();
  for (const std::string teacher : {"single_teacher", "ensemble"}) {
    account.inputs(teacher + "_iterations");
    bleu_out_of_reach(account, {teacher + "_bleu"});
  }
  const auto vanilla_of = [&](const std::string& size) {
    std::size_t row = 0;
    while (table.text(row, "size") != size || !table.text(row, "model").starts_with("SpecDec (")) ++row;
    return row;
  };
  for (const std::string teacher : {"single_teacher", "ensemble"}) {
    account.each(teacher + "_speed_x", [&](std::size_t row) {
      const std::string& model = table.text(row, "model");
      const PrintedNumber printed = table.number(row, teacher + "_speed_x");
      if (!table.is_number(row, teacher + "_iterations")) return input_cell("baseline");
      const std::size_t vanilla = vanilla_of(table.text(row, "size"));
      const ProfileSpeed profile = ProfileSpeed::through(
          table.number(vanilla, "single_teacher_iterations"), table.number(vanilla, "single_teacher_speed_x"),
          fmt::format("the profile of Table 18, scaled to SpecDec {} with one teacher", table.text(row, "size")));
      const double iterations = table.number(row, teacher + "_iterations").value;
      if (is_drafter_alone(model)) return profile.drafter_alone(iterations, printed);
      if (row == vanilla && teacher == "single_teacher") {
        return fitted_cell(profile.speed(iterations), "time of the baseline solved from this cell");
      }
      CellAnswer answer = profile.predict(iterations, printed);
      const PrintedNumber single = table.number(row, "single_teacher_speed_x");
      const bool same_iterations =
          table.text(row, "single_teacher_iterations") == table.text(row, "ensemble_iterations");
      if (teacher == "ensemble" && same_iterations && is_speculative(model) &&
          !intersects(single.rounding, printed.rounding)) {
        answer =
            with_finding(answer, fmt::format("{} iterations with one teacher and with the ensemble, but {} and {}: "
                                             "the architecture is the same, so equal iterations take equal times",
                                             table.text(row, "ensemble_iterations"), single.text, printed.text));
      }
      return answer;
    });
  }
  return account.finish(
      "One teacher against an ensemble [Xia2022, Table 10]: one baseline time a size, all else from the module "
      "profile.");
}

ExperimentResult iclr_table11(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table11", "iclr_table11", {"group", "model", "enc_depth", "dec_depth"});
  const PublishedTable& table = account.published();
  account.inputs("iterations");
  bleu_out_of_reach(account, {"bleu"});
  const InverseSpeedLine inverse_speed = inverse_speed_line(table);
  // Encoders twice as deep, decoders a third: every module in proportion to its layers.
  const analytic::BlockLatency base = specdec_profile();
  const analytic::BlockLatency by_layers{.target_encoder_ms = 2.0 * base.target_encoder_ms,
                                         .drafter_encoder_ms = 2.0 * base.drafter_encoder_ms,
                                         .draft_ms = base.draft_ms / 3.0,
                                         .verify_ms = base.verify_ms / 3.0,
                                         .overhead_ms = 0.0,
                                         .fixed_ms = base.fixed_ms};
  account.each("speed_x", [&](std::size_t row) {
    const PrintedNumber printed = table.number(row, "speed_x");
    if (!table.is_number(row, "iterations")) {
      return table.text(row, "enc_depth") == "6" ? input_cell("baseline")
                                                 : unreachable_cell("plain decoding with another architecture");
    }
    const double iterations = table.number(row, "iterations").value;
    if (is_drafter_alone(table.text(row, "model"))) {
      return predicted_cell(specdec_beam_ms() / analytic::drafter_alone_ms(by_layers, iterations), printed,
                            "the profile of Table 18, every module in proportion to its layers");
    }
    return inverse_speed.answer(row, iterations, printed);
  });
  ExperimentResult result = account.finish(
      "Deep encoder, shallow decoder [Xia2022, Table 11]: inverse speed is a line in the printed iterations.");
  result.text += " without any fit, every module of Table 18 in proportion to its layers:";
  for (const std::size_t row : {slow_row, middle_row, fast_row}) {
    result.text += fmt::format(" {:.1f} (paper {})",
                               analytic::speedup(by_layers, table.number(row, "iterations").value, specdec_beam_ms()),
                               table.text(row, "speed_x"));
  }
  result.text += "\n";
  return result;
}

namespace {

constexpr std::string_view shortest_block = "10";
constexpr std::string_view fitted_block = "25";

/// Tok against k from the acceptance at k = 25; speed from the printed Tok and a cost line through k = 10 and 25.
void account_for_block_sizes(TableAccount& account) {
  const PublishedTable& table = account.published();
  const auto row_of = [&](std::string_view k) {
    std::size_t row = 0;
    while (table.text(row, "k") != k) ++row;
    return row;
  };
  const std::size_t first = row_of(shortest_block);
  const std::size_t fit = row_of(fitted_block);
  const auto block = [&](std::size_t row) { return static_cast<std::int64_t>(table.number(row, "k").value); };
  const auto cost_of = [&](std::size_t row) {
    return table.number(row, "tok").value / table.number(row, "speed_x").value;
  };
  const double alpha = specdec_alpha(table.number(fit, "tok").value, block(fit));
  const std::array<double, 2> blocks{table.number(first, "k").value, table.number(fit, "k").value};
  const std::array<double, 2> costs{cost_of(first), cost_of(fit)};
  const analytic::Line cost = analytic::least_squares_line(blocks, costs);

  account.out_of_reach("bleu", "BLEU needs the trained models");
  account.cell(0, "tok", exact_cell({.value = 1.0, .rounding = {1.0, 1.0}}, "plain decoding emits one token a step"));
  account.cell(0, "speed_x", input_cell("baseline"));
  for (std::size_t row = 1; row < table.size(); ++row) {
    const PrintedNumber tokens = table.number(row, "tok");
    const PrintedNumber speed = table.number(row, "speed_x");
    account.cell(row, "tok",
                 row == fit ? fitted_cell(tokens.value, fmt::format("alpha = {:.4f} solved from this cell, sentences "
                                                                    "of {:.1f} tokens",
                                                                    alpha, specdec_mean_tokens()))
                            : predicted_cell(specdec_tokens(alpha, block(row)), tokens,
                                             "i.i.d. acceptance of k = 25, finite sentences"));
    const double ours = tokens.value / specdec_cost(cost, block(row));
    const std::string line =
        fmt::format("printed Tok / ({:.3f} + {:.4f} k), the line through k = 10 and 25", cost.intercept, cost.slope);
    account.cell(row, "speed_x",
                 row == fit || row == first ? fitted_cell(ours, line) : predicted_cell(ours, speed, line));
  }
}

}  // namespace

ExperimentResult emnlp_table3(const ExperimentSettings& /*settings*/) {
  TableAccount account("emnlp-table3", "emnlp_table3", {"model", "k"});
  account_for_block_sizes(account);
  return account.finish(
      "Block size [Xia2023, Table 3]: tokens from one acceptance and finite sentences, speeds from a linear cost. The "
      "drop from k = 25 to k = 30 is no effect of i.i.d. acceptance.");
}

ExperimentResult iclr_table2(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table2", "iclr_table2", {"model", "k"});
  account_for_block_sizes(account);
  const PublishedTable& table = account.published();
  const PublishedTable other = published_table("iclr_table3");
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "k") != fitted_block) continue;
    account.cell(
        row, "bleu",
        with_finding(unreachable_cell("BLEU needs the trained models"),
                     fmt::format("Table 3 prints {} for the same setting (k = 25, top-3, tolerance 1.0, Tok {} "
                                 "there, {} here): a difference of {:.2f}",
                                 other.text(0, "bleu"), other.text(0, "tok"), table.text(row, "tok"),
                                 other.number(0, "bleu").value - table.number(row, "bleu").value)));
  }
  return account.finish(
      "Block size of the ICLR submission [Xia2022, Table 2]: tokens from one acceptance and finite sentences, speeds "
      "from a linear cost.");
}

}  // namespace foredraft::experiments
