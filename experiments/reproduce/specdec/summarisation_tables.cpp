// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {
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
