// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {

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

}  // namespace foredraft::experiments
