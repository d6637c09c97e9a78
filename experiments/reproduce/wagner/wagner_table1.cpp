// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vector>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/artifacts.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/reproduce/wagner/wagner_tables.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

/// The gain over all calls if there were as many calls as in the baseline: that of one call, from Table 4. Where the
/// printed gain is another one, the number of calls has changed, and by how much is solved from both.
CellAnswer total_profiling_gain(const std::string& run, const std::string& variant, const PrintedNumber& printed) {
  const RoundedValue call = wagner_call_gain(run, variant);
  const RoundedValue total = rounded(printed, 0.01);
  const RoundedValue ratio = propagate_rounding(
      {total, call}, [](std::span<const double> gains) { return analytic::implied_call_ratio(gains[0], gains[1]); });
  const RoundedValue as_many_calls = propagate_rounding(
      {call}, [](std::span<const double> gain) { return 100.0 * analytic::total_gain(gain[0], 1.0); });
  CellAnswer answer = exact_cell(as_many_calls, "gain of one call (Table 4), as many calls as in the baseline");
  if (contradicts(as_many_calls, printed)) {
    answer.finding = fmt::format(
        "one call gains {:.1f} % (Table 4), so {} % in all needs {:.3f} ({:.3f} to {:.3f}) times the calls: "
        "(1 - {:.3f}) / (1 - {:.3f}); {}",
        100.0 * call.value, printed.text, ratio.value, ratio.rounding.low, ratio.rounding.high, total.value, call.value,
        variant == "exact" ? "yet its outputs are said to be the baseline's"
                           : "calls spared by accepting more, not by a faster kernel");
  }
  return answer;
}

/// Faster calls and fewer calls of one run, apart; gains as shares.
struct SeparatedGain {
  double call;        ///< of a call, Table 4
  double call_ratio;  ///< calls over the baseline's, what is left between the two
  double token;       ///< of a generated token, Table 1, as far as the outputs are as long as the baseline's
  double counted_call;
  double counted_token;  ///< the same calls at their counted gain
};

SeparatedGain separated_gain(const PublishedTable& table, std::size_t row, const std::string& variant) {
  const std::string run = wagner_run(table, row);
  const double call = wagner_call_gain(run, variant).value;
  const double token = table.number(row, fmt::format("profiling_gain_{}_percent", variant)).value / 100.0;
  const double ratio = analytic::implied_call_ratio(token, call);
  const double counted = counted_gain(run, variant).at_first_gamma;
  return {.call = call,
          .call_ratio = ratio,
          .token = token,
          .counted_call = counted,
          .counted_token = analytic::total_gain(counted, ratio)};
}

void separate_calls(const TableAccount& account, ExperimentResult& result) {
  using enum Table::Align;
  const PublishedTable& published = account.published();
  DataText data({"run", "variant", "gain_per_call_percent", "call_ratio", "gain_per_token_percent",
                 "counted_gain_per_call_percent", "counted_gain_per_token_percent"});
  Table shown{
      .caption = fmt::format("Faster calls and fewer calls apart [Wagner2024, Tables 1 and 4]; gains in percent. "
                             "Counted at gamma {}, not measured: {}.",
                             first_gamma, counted_time_source()),
      .columns = {{"run", left},
                  {"variant", left},
                  {"gain per call", right},
                  {"ratio of calls", right},
                  {"gain per token", right},
                  {"counted gain per call", right},
                  {"counted gain per token", right}},
      .rows = {}};
  result.text +=
      fmt::format(" faster calls and fewer calls apart, in percent; counted at gamma {}, not measured\n", first_gamma);
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100.0 * share); };
  for (const std::string variant : {"exact", "sigmoid"}) {
    std::vector<SeparatedGain> gains;
    for (std::size_t row = 0; row < published.size(); ++row) {
      const std::string run = wagner_run(published, row);
      const SeparatedGain gain = separated_gain(published, row, variant);
      gains.push_back(gain);
      data.row().cell(run).cell(variant).cell(100.0 * gain.call).cell(gain.call_ratio).cell(100.0 * gain.token);
      data.cell(100.0 * gain.counted_call).cell(100.0 * gain.counted_token);
      shown.rows.push_back({run, variant, percent(gain.call), fmt::format("{:.3f}", gain.call_ratio),
                            percent(gain.token), percent(gain.counted_call), percent(gain.counted_token)});
      add_counted_row(result, "wagner-table1", account.row_name(row),
                      fmt::format("counted_profiling_gain_{}_percent", variant), 100.0 * gain.counted_token,
                      fmt::format("{:.1f} % a call at gamma {}, with the printed tables' {:.3f} times the calls; {}",
                                  100.0 * gain.counted_call, first_gamma, gain.call_ratio, counted_time_source()));
    }
    const auto range = [&gains](double SeparatedGain::*member) {
      std::vector<double> values;
      for (const SeparatedGain& gain : gains) values.push_back(gain.*member);
      return percent_range(values);
    };
    result.text += fmt::format("  {}: per call {}, {} % of the calls, per token {}; counted per call {}\n", variant,
                               range(&SeparatedGain::call), range(&SeparatedGain::call_ratio),
                               range(&SeparatedGain::token), range(&SeparatedGain::counted_call));
  }
  for (Artifact& artifact : table_artifacts("wagner-table1-calls", shown, data)) {
    result.artifacts.push_back(std::move(artifact));
  }
}

}  // namespace

ExperimentResult wagner_table1(const ExperimentSettings& /*settings*/) {
  TableAccount account("wagner-table1", "wagner_table1", {"dataset", "subset", "target"});
  const PublishedTable& table = account.published();
  account.out_of_reach("metric_baseline", "needs the trained networks and their data");
  account.out_of_reach("metric_sigmoid", "needs the trained networks and their data");
  account.each("metric_exact", [&](std::size_t row) {
    return exact_cell(rounded(table.number(row, "metric_baseline")),
                      "a lossless rule leaves the outputs, so the score is the baseline's");
  });
  for (const std::string variant : {"exact", "sigmoid"}) {
    const std::string column = fmt::format("profiling_gain_{}_percent", variant);
    account.each(column, [&](std::size_t row) {
      return total_profiling_gain(wagner_run(table, row), variant, table.number(row, column));
    });
  }
  ExperimentResult result = account.finish(
      "Gain over all calls of the verification step [Wagner2024, Table 1], beside the gain of one call from Table 4: "
      "they agree where the number of calls stayed.");
  separate_calls(account, result);
  return result;
}

}  // namespace foredraft::experiments
