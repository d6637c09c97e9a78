// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <vector>

#include "analytic/cost/speedup_fit.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {
namespace {

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

}  // namespace

TableCodes iclr_tables() {
  return {{"iclr-table1", iclr_table1},   {"iclr-table4", iclr_table4},  {"iclr-table5", iclr_table5},
          {"iclr-table6", iclr_table6},   {"iclr-table8", iclr_table8},  {"iclr-table10", iclr_table10},
          {"iclr-table11", iclr_table11}, {"iclr-table18", iclr_table18}};
}

}  // namespace foredraft::experiments
