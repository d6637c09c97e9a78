#include <fmt/format.h>
#include <vector>

#include "analytic/cost/kernel_share.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/reproduce/wagner/wagner_tables.hpp"
#include "experiments/text/data_text.hpp"

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

/// Faster calls and fewer calls, apart: per call the gain of Table 4, per generated token that of Table 1 (as far as
/// the outputs are as long as the baseline's), and the ratio of calls that is left between the two. Beside them the
/// gain of a call by count.
void separate_calls(const TableAccount& account, ExperimentResult& result) {
  const PublishedTable& table = account.published();
  DataText data({"run", "variant", "gain_per_call_percent", "call_ratio", "gain_per_token_percent",
                 "counted_gain_per_call_percent", "counted_gain_per_token_percent"});
  result.text += fmt::format(
      " gain per call (faster calls), calls (fewer calls) and gain per token, in percent; counted "
      "at gamma {}, not measured\n",
      first_gamma);
  for (const std::string variant : {"exact", "sigmoid"}) {
    const std::string column = fmt::format("profiling_gain_{}_percent", variant);
    std::vector<double> calls;
    std::vector<double> ratios;
    std::vector<double> tokens;
    std::vector<double> counted;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::string run = wagner_run(table, row);
      calls.push_back(wagner_call_gain(run, variant).value);
      tokens.push_back(table.number(row, column).value / 100.0);
      ratios.push_back(analytic::implied_call_ratio(tokens.back(), calls.back()));
      counted.push_back(counted_gain(run, variant).at_first_gamma);
      const double counted_token = analytic::total_gain(counted.back(), ratios.back());
      data.row().cell(run).cell(variant).cell(100.0 * calls.back()).cell(ratios.back()).cell(100.0 * tokens.back());
      data.cell(100.0 * counted.back()).cell(100.0 * counted_token);
      add_counted_row(result, "wagner-table1", account.row_name(row), "counted_" + column, 100.0 * counted_token,
                      fmt::format("{:.1f} % a call at gamma {}, with the printed tables' {:.3f} times the calls; {}",
                                  100.0 * counted.back(), first_gamma, ratios.back(), counted_time_source()));
    }
    result.text +=
        fmt::format("  {}: per call {}, with {} % of the calls, per token {}; counted per call {}\n", variant,
                    percent_range(calls), percent_range(ratios), percent_range(tokens), percent_range(counted));
  }
  result.artifacts.push_back({"wagner-table1-calls.csv", data.csv()});
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
