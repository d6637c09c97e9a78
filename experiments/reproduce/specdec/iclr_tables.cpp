// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <vector>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {

ExperimentResult iclr_figure2(const ExperimentSettings& /*settings*/) {
  const PublishedTable main = published_table("iclr_table1");
  const analytic::BlockLatency profile = specdec_profile();
  DataText data({"group", "system", "bleu", "printed_speedup", "predicted_speedup"});
  for (std::size_t row = 0; row < main.size(); ++row) {
    const bool rerun = main.is_number(row, "speedup_rerun_x");
    if (!rerun && !main.is_number(row, "speedup_reported_x")) continue;
    const PrintedNumber printed = main.number(row, rerun ? "speedup_rerun_x" : "speedup_reported_x");
    std::optional<double> ours;
    const std::string& model = main.text(row, "model");
    const bool theirs = main.text(row, "group") == "Ours";
    if (theirs && main.is_number(row, "iterations")) {
      const double iterations = main.number(row, "iterations").value;
      ours = model.starts_with("NAT") ? specdec_beam_ms() / analytic::drafter_alone_ms(profile, iterations)
                                      : analytic::speedup(profile, iterations, specdec_beam_ms());
    }
    data.row()
        .cell(theirs ? "SpecDec and its parts" : main.text(row, "group"))
        .cell(model)
        .cell(main.number(row, "bleu_en_de").value)
        .cell(printed.value)
        .cell(ours);
  }
  return {
      .text =
          "quality against speed on EN-DE: BLEU as printed [Xia2022, Table 1], speeds as printed and, for SpecDec and "
          "its drafter, from the module profile [Xia2022, Table 18]\n",
      .artifacts = {{"iclr-figure2.csv", data.csv()}},
      .rows = {}};
}

ExperimentResult iclr_table5(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table5", "iclr_table5", {"model", "drafter", "top_beta", "tau"});
  const PublishedTable& table = account.published();
  account.inputs("tok");
  account.out_of_reach("bleu", "BLEU needs the trained models");
  account.cell(0, "tok", exact_cell({.value = 1.0, .rounding = {1.0, 1.0}}, "plain decoding emits one token a step"));
  constexpr std::size_t fitted_row = 2;  // vanilla, NAT-base
  constexpr std::size_t third_lightweight = 7;
  const RoundedValue length =
      rounded_product(rounded(table.number(fitted_row, "tok")), rounded(table.number(fitted_row, "iterations")));
  account.each("iterations", [&](std::size_t row) {
    const PrintedNumber tokens = table.number(row, "tok");
    const PrintedNumber printed = table.number(row, "iterations");
    const RoundedValue ours = rounded_quotient(length, rounded(tokens));
    if (row == fitted_row) {
      return fitted_cell(ours.value, fmt::format("mean length {:.1f} ({:.1f} to {:.1f}) solved from this cell",
                                                 length.value, length.rounding.low, length.rounding.high));
    }
    CellAnswer answer = exact_cell(ours, fmt::format("{:.1f} tokens / Tok", length.value));
    if (!contradicts(ours, printed)) return answer;
    const RoundedValue here = rounded_product(rounded(tokens), rounded(printed));
    return with_finding(std::move(answer),
                        fmt::format("{} x {} = {:.1f} ({:.1f} to {:.1f}) tokens a sentence, the other rows {:.1f} "
                                    "({:.1f} to {:.1f}); the third lightweight row has {} x {} = {:.1f}",
                                    tokens.text, printed.text, here.value, here.rounding.low, here.rounding.high,
                                    length.value, length.rounding.low, length.rounding.high,
                                    table.text(third_lightweight, "tok"), table.text(third_lightweight, "iterations"),
                                    table.number(third_lightweight, "tok").value *
                                        table.number(third_lightweight, "iterations").value));
  });
  return account.finish(
      "Size of the drafter [Xia2022, Table 5]: Tok times iterations is the mean length of one test set.");
}

ExperimentResult iclr_table18(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table18", "iclr_table18", {"module"});
  const PublishedTable& table = account.published();
  const std::size_t modules = table.size() - 1;
  const std::size_t total = modules;
  const auto sum_of = [&](std::string_view column) {
    std::vector<RoundedValue> parts;
    for (std::size_t row = 0; row < modules; ++row) parts.push_back(rounded(table.number(row, column)));
    return propagate_rounding(parts, [](std::span<const double> x) {
      double sum = 0.0;
      for (const double part : x) sum += part;
      return sum;
    });
  };
  account.inputs("latency_ms");
  account.cell(total, "latency_ms", exact_cell(sum_of("latency_ms"), "sum of the modules"));
  account.cell(total, "percent", exact_cell(sum_of("percent"), "sum of the printed percentages"));
  const PrintedNumber total_ms = table.number(total, "latency_ms");
  for (std::size_t row = 0; row < modules; ++row) {
    const PrintedNumber latency = table.number(row, "latency_ms");
    const PrintedNumber printed = table.number(row, "percent");
    RoundedValue ours = rounded_quotient(rounded(latency), rounded(total_ms));
    ours = {.value = 100.0 * ours.value, .rounding = {100.0 * ours.rounding.low, 100.0 * ours.rounding.high}};
    CellAnswer answer = exact_cell(ours, "latency over total");
    if (contradicts(ours, printed)) {
      double others = 0.0;
      for (std::size_t other = 0; other < modules; ++other) {
        if (other != row) others += table.number(other, "percent").value;
      }
      answer = with_finding(answer,
                            fmt::format("{} / {} = {:.2f} %, not {}; it was made to complete 100: 100 - {:.2f} = "
                                        "{:.2f}",
                                        latency.text, total_ms.text, ours.value, printed.text, others, 100.0 - others));
    }
    account.cell(row, "percent", answer);
  }
  ExperimentResult result =
      account.finish("Where the time of a translation goes [Xia2022, Table 18]: percentages from latencies, sums.");
  const analytic::BlockLatency profile = specdec_profile();
  const double sentence = total_ms.value;
  const double encoders = profile.target_encoder_ms + profile.drafter_encoder_ms;
  const double gain = analytic::parallel_encoders_gain_ms(profile);
  result.text += fmt::format(
      " a pass of the drafter {:.2f} ms, of the verifier {:.2f} ms (3.1 iterations); encoders {:.1f} % of the time; "
      "both "
      "at once would save {:.2f} ms, {:.1f} %; no acceptance gives more than {:.1f}x\n",
      profile.draft_ms, profile.verify_ms, 100.0 * encoders / sentence, gain, 100.0 * gain / sentence,
      analytic::speedup_limit(profile, specdec_beam_ms()));
  return result;
}

namespace {

constexpr double capacity_gb_mb = 48'000.0;   // 48 GB in MB
constexpr double capacity_gib_mb = 49'152.0;  // 48 GiB in MiB

/// The capacities for which the printed memory gives the printed percentage.
Interval capacities_mb(const PrintedNumber& memory, const PrintedNumber& percent) {
  return {100.0 * memory.rounding.low / percent.rounding.high, 100.0 * memory.rounding.high / percent.rounding.low};
}

RoundedValue percent_of(const PrintedNumber& memory, double capacity_mb) {
  const double scale = 100.0 / capacity_mb;
  return {.value = scale * memory.value, .rounding = {scale * memory.rounding.low, scale * memory.rounding.high}};
}

CellAnswer percentage(const PrintedNumber& memory, const PrintedNumber& percent) {
  const RoundedValue of_gb = percent_of(memory, capacity_gb_mb);
  const RoundedValue of_gib = percent_of(memory, capacity_gib_mb);
  if (!contradicts(of_gb, percent)) return exact_cell(of_gb, "of 48,000 MB");
  if (!contradicts(of_gib, percent)) return exact_cell(of_gib, "of 49,152 MB");
  return with_finding(
      exact_cell(of_gb, {}),
      fmt::format("{} MB are {:.2f} % of 48,000 MB and {:.2f} % of 49,152 MB; as printed only if rounded "
                  "to whole percent",
                  memory.text, of_gb.value, of_gib.value));
}

/// The sister table has the other task on the same device.
ExperimentResult large_model(const std::string& id, std::string_view table_name, std::string_view sister_name,
                             const std::string& caption) {
  TableAccount account(id, table_name, {"statistic"});
  const PublishedTable& table = account.published();
  const PublishedTable sister = published_table(sister_name);
  enum StatisticRow : std::size_t { latency = 0, memory = 1, percent = 2 };
  std::optional<Interval> here;
  std::optional<Interval> there;
  const auto meet = [](const std::optional<Interval>& a, const Interval& b) {
    return a ? Interval{std::max(a->low, b.low), std::min(a->high, b.high)} : b;
  };
  for (const std::string column : {"batch_1", "batch_32"}) {
    account.cell(latency, column, unreachable_cell("latency of T5-large on an A40"));
    account.cell(memory, column, input_cell());
    account.cell(percent, column, percentage(table.number(memory, column), table.number(percent, column)));
    here = meet(here, capacities_mb(table.number(memory, column), table.number(percent, column)));
    there = meet(there, capacities_mb(sister.number(memory, column), sister.number(percent, column)));
  }
  ExperimentResult result = account.finish(caption);
  result.text += fmt::format(
      " capacity that explains both percentages: {:.0f} to {:.0f} MB here, {:.0f} to {:.0f} MB in the sister table\n",
      here->low, here->high, there->low, there->high);
  return result;
}

}  // namespace

ExperimentResult emnlp_table10(const ExperimentSettings& /*settings*/) {
  return large_model("emnlp-table10", "emnlp_table10", "emnlp_table11",
                     "T5-large on a 48 GB A40, translation [Xia2023, Table 10]: memory as a share of the device.");
}

ExperimentResult emnlp_table11(const ExperimentSettings& /*settings*/) {
  return large_model("emnlp-table11", "emnlp_table11", "emnlp_table10",
                     "T5-large on a 48 GB A40, summarisation [Xia2023, Table 11]: memory as a share of the device.");
}

ExperimentResult iclr_table16(const ExperimentSettings& /*settings*/) {
  return large_model("iclr-table16", "iclr_table16", "iclr_table17",
                     "T5-large on a 48 GB A40, ICLR submission, translation [Xia2022, Table 16]: memory as a share of "
                     "the device.");
}

ExperimentResult iclr_table17(const ExperimentSettings& /*settings*/) {
  return large_model(
      "iclr-table17", "iclr_table17", "iclr_table16",
      "T5-large on a 48 GB A40, ICLR submission, summarisation [Xia2022, Table 17]: memory as a share of "
      "the device.");
}

namespace {

/// The row that the printed differences refer to.
constexpr std::size_t greedy_baseline_row = 1;
constexpr std::string_view needs_models = "needs the trained models";

}  // namespace

ExperimentResult emnlp_table5(const ExperimentSettings& /*settings*/) {
  TableAccount account("emnlp-table5", "emnlp_table5", {"group", "model"});
  const PublishedTable& table = account.published();
  for (const std::string metric : {"rouge1", "rouge2", "rougeL"}) {
    account.out_of_reach(metric, fmt::format("ROUGE {}", needs_models));
    account.each(metric + "_delta", [&](std::size_t row) {
      const PrintedNumber here = table.number(row, metric);
      const PrintedNumber baseline = table.number(greedy_baseline_row, metric);
      const PrintedNumber printed = table.number(row, metric + "_delta");
      const RoundedValue ours = rounded_difference(rounded(here), rounded(baseline));
      const CellAnswer answer = exact_cell(ours, "score minus that of greedy decoding");
      return contradicts(ours, printed) ? with_finding(answer, fmt::format("{} - {} = {:.2f}, not {}", here.text,
                                                                           baseline.text, ours.value, printed.text))
                                        : answer;
    });
  }
  account.out_of_reach("speed_x", fmt::format("no iterations are printed; the speed {}", needs_models));
  account.cell(0, "speed_x", input_cell("baseline"));
  account.cell(greedy_baseline_row, "speed_x", input_cell("baseline"));
  return account.finish(
      "Summarisation [Xia2023, Table 5]: the printed differences by subtraction from greedy decoding.");
}

ExperimentResult emnlp_table6(const ExperimentSettings& /*settings*/) {
  TableAccount account("emnlp-table6", "emnlp_table6", {"model"});
  const PublishedTable& table = account.published();
  account.out_of_reach("relative_bleu", fmt::format("BLEU against the greedy output {}", needs_models));
  account.cell(0, "relative_bleu", input_cell("the reference itself"));
  std::size_t lowest = 1;
  std::size_t highest = 1;
  // The last row is SpecDec itself.
  for (std::size_t row = 1; row + 1 < table.size(); ++row) {
    if (table.number(row, "relative_bleu").value < table.number(lowest, "relative_bleu").value) lowest = row;
    if (table.number(row, "relative_bleu").value > table.number(highest, "relative_bleu").value) highest = row;
  }
  constexpr double said = 55.0;
  account.cell(
      lowest, "relative_bleu",
      with_finding(unreachable_cell({}),
                   fmt::format("the text (Sec. 4.4) says that fast models agree with the target in around {:.0f} "
                               "%; the table prints {} to {}, so even the lowest is {:.1f} above",
                               said, table.text(lowest, "relative_bleu"), table.text(highest, "relative_bleu"),
                               table.number(lowest, "relative_bleu").value - said)));
  return account.finish("Agreement with the greedy output [Xia2023, Table 6]: listed.");
}

}  // namespace foredraft::experiments
