#include <fmt/format.h>

#include "analytic/cost/kernel_share.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/wagner_tables.hpp"

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
  return account.finish(
      "Gain over all calls of the verification step [Wagner2024, Table 1], beside the gain of one call from Table 4: "
      "they agree where the number of calls stayed.");
}

}  // namespace foredraft::experiments
