// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/wagner_tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/reproduction_folder.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/reproduce/wagner/sigmoid_loss.hpp"

namespace foredraft::experiments {
namespace {

std::string without_prefix(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

}  // namespace

std::string wagner_run(const PublishedTable& table, std::size_t row) {
  const std::string& dataset = table.text(row, "dataset");
  const std::string& subset = table.text(row, "subset");
  return fmt::format("{}{}{} {}", dataset == "CNN/DM" ? "CNN/DailyMail" : dataset, subset.empty() ? "" : " ", subset,
                     without_prefix(table.text(row, "target"), "Whisper "));
}

std::size_t wagner_row(const PublishedTable& table, const std::string& run) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (wagner_run(table, row) == run) return row;
  }
  throw std::logic_error(fmt::format("no row of the published table is the run {}", run));
}

RoundedValue wagner_call_gain(const std::string& run, const std::string& variant, double whole) {
  const PublishedTable times = published_table("wagner_table4");
  const std::size_t row = wagner_row(times, run);
  return propagate_rounding(
      {rounded(times.number(row, "baseline_avg_ms")), rounded(times.number(row, variant + "_avg_ms"))},
      [whole](std::span<const double> ms) { return whole * (1.0 - ms[1] / ms[0]); });
}

CountedGain counted_gain(const std::string& run, const std::string& variant) {
  const CallVariant call = variant == "exact" ? CallVariant::exact : CallVariant::sigmoid;
  const VerificationPair& pair = wagner_pair(run);
  CountedGain gain{.at_first_gamma = counted_call_gain(call, pair, first_gamma), .over_gammas = {1.0, -1.0}};
  for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
    const double here = counted_call_gain(call, pair, gamma);
    gain.over_gammas.low = std::min(gain.over_gammas.low, here);
    gain.over_gammas.high = std::max(gain.over_gammas.high, here);
  }
  return gain;
}

void add_counted_row(ExperimentResult& result, const std::string& experiment, const std::string& run,
                     const std::string& column, double ours, const std::string& note) {
  result.rows.push_back({.experiment = experiment,
                         .row = run,
                         .column = column,
                         .published = std::nullopt,
                         .ours = ours,
                         .ours_interval = std::nullopt,
                         .kind = Kind::predicted,
                         .verdict = Verdict::shown,
                         .note = fmt::format("counted, not measured: {}", note)});
}

std::string percent_range(const std::vector<double>& shares) {
  const auto [least, greatest] = std::minmax_element(shares.begin(), shares.end());
  return fmt::format("{:.1f} to {:.1f}", 100.0 * *least, 100.0 * *greatest);
}

namespace {

/// The row of Table 5 for the same networks and the same place in the list of scales.
std::size_t same_scale(const PublishedTable& all, const PublishedTable& table, std::size_t row) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.text(i, "target") == table.text(row, "target") && all.text(i, "row") == table.text(row, "row")) return i;
  }
  throw std::logic_error("wagner-table2: a row that Table 5 lacks");
}

}  // namespace

/// The table is an excerpt of Table 5, so both must print the same numbers.
ExperimentResult wagner_table2(const ExperimentSettings& /*settings*/) {
  TableAccount account("wagner-table2", "wagner_table2", {"target", "row"});
  const PublishedTable& table = account.published();
  const PublishedTable all = published_table("wagner_table5");
  account.out_of_reach("value", "needs the trained networks and their data; the scales are lost in the source");
  account.each("profiling_gain_percent", [&](std::size_t row) {
    const PrintedNumber same = all.number(same_scale(all, table, row), "profiling_gain_percent");
    return exact_cell(rounded(same), fmt::format("Table 5 prints the same run; {:.2f} times the baseline's time",
                                                 1.0 - same.value / 100.0));
  });
  return account.finish(
      "Scales of the sigmoid's logits [Wagner2024, Table 2; the scales are lost in the source], beside the same runs "
      "in Table 5.");
}

namespace {

/// A deviation this many times the baseline's is not the scatter of one and the same step.
constexpr double strange_ratio = 2.0;

}  // namespace

ExperimentResult wagner_table4(const ExperimentSettings& /*settings*/) {
  TableAccount account("wagner-table4", "wagner_table4", {"dataset", "subset", "target"});
  const PublishedTable& table = account.published();
  account.inputs("baseline_avg_ms");
  account.out_of_reach("baseline_std_ms", "scatter of their runs on their device");
  for (const std::string variant : {"exact", "sigmoid"}) {
    const std::string average = variant + "_avg_ms";
    const std::string deviation = variant + "_std_ms";
    account.inputs(average);
    account.out_of_reach(deviation, "scatter of their runs on their device");
    account.each(fmt::format("profiling_gain_{}_percent", variant), [&](std::size_t row) {
      return exact_cell(wagner_call_gain(wagner_run(table, row), variant, 100.0), "1 - average / baseline average");
    });
    for (std::size_t row = 0; row < table.size(); ++row) {
      const PrintedNumber before = table.number(row, "baseline_std_ms");
      const PrintedNumber after = table.number(row, deviation);
      if (after.value < strange_ratio * before.value) continue;
      account.cell(
          row, deviation,
          with_finding(unreachable_cell({}),
                       fmt::format("{} / {} = {:.1f} times the deviation of the baseline, while the mean falls "
                                   "from {} to {} ms",
                                   after.text, before.text, after.value / before.value,
                                   table.text(row, "baseline_avg_ms"), table.text(row, average))));
    }
  }
  ExperimentResult result = account.finish(
      "Time of one verification step [Wagner2024, Table 4]: the printed percentages from the printed averages.");
  result.text += fmt::format(" gain of one call, in percent; counted: {}\n", counted_time_source());
  for (const std::string variant : {"exact", "sigmoid"}) {
    std::vector<double> printed;
    std::vector<double> counted;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::string run = wagner_run(table, row);
      const CountedGain gain = counted_gain(run, variant);
      printed.push_back(wagner_call_gain(run, variant).value);
      counted.push_back(gain.at_first_gamma);
      add_counted_row(
          result, "wagner-table4", account.row_name(row), fmt::format("counted_call_gain_{}_percent", variant),
          100.0 * gain.at_first_gamma,
          fmt::format("at gamma {}; {:.1f} to {:.1f} for gamma 1 to {}; {}; the printed averages give {:.1f}",
                      first_gamma, 100.0 * gain.over_gammas.low, 100.0 * gain.over_gammas.high, longest_swept_draft,
                      counted_time_source(), 100.0 * printed.back()));
    }
    result.text += fmt::format("  {}: printed {}, counted {} at gamma {}\n", variant, percent_range(printed),
                               percent_range(counted), first_gamma);
  }
  return result;
}

namespace {

/// What the printed scales do is out of reach; what such scales do to a pair whose distributions are known is not.
Table loss_table(const ExperimentSettings& settings) {
  using enum Table::Align;
  Table table{.caption = sigmoid_loss_caption(),
              .columns = {{"scale", right},
                          {"bits", right},
                          {"acceptance", right},
                          {"tokens an iteration", right},
                          {"+-", right},
                          {"calls a token", right},
                          {"total variation", right},
                          {"KL, nats", right},
                          {"target's best token", right}},
              .rows = {}};
  for (const SigmoidLoss& loss : sigmoid_losses(settings)) {
    table.rows.push_back({loss.scale ? fmt::format("+-{:g}", *loss.scale) : "softmax", fmt::format("{}", loss.bits),
                          fmt::format("{:.4f}", loss.law.acceptance.mean), fmt::format("{:.3f}", loss.tokens.mean),
                          fmt::format("{:.3f}", normal_quantile(0.95) * loss.tokens.standard_error),
                          fmt::format("{:.2f}x", loss.call_ratio), fmt::format("{:.4f}", loss.law.total_variation.mean),
                          fmt::format("{:.4f}", loss.law.kl_divergence.mean),
                          fmt::format("{:.3f}", loss.law.top1_probability.mean)});
  }
  return table;
}

}  // namespace

ExperimentResult wagner_table5(const ExperimentSettings& settings) {
  TableAccount account("wagner-table5", "wagner_table5", {"target", "row"});
  const PublishedTable& table = account.published();
  account.out_of_reach("value", "needs the trained networks and their data; the scales are lost in the source");
  account.each("profiling_gain_percent", [&](std::size_t row) {
    const double gain = table.number(row, "profiling_gain_percent").value;
    return unreachable_cell(fmt::format("the step takes {:.2f} times the baseline's time", 1.0 - gain / 100.0));
  });
  ExperimentResult result = account.finish(
      "Scales of the sigmoid's logits [Wagner2024, Table 5; the scales are lost in the source], for every pair of "
      "networks.");
  const Table loss = loss_table(settings);
  result.text += fmt::format("{}\n{}", loss.caption, to_text(loss));
  for (Artifact& artifact : table_artifacts("wagner-table5-loss", loss))
    result.artifacts.push_back(std::move(artifact));
  return result;
}

}  // namespace foredraft::experiments
