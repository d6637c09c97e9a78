// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <stdexcept>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"

namespace foredraft::experiments {
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

}  // namespace foredraft::experiments
