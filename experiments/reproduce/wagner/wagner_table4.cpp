// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vector>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/reproduce/wagner/wagner_tables.hpp"

namespace foredraft::experiments {
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

}  // namespace foredraft::experiments
