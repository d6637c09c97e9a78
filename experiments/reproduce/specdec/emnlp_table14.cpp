// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/implied_cost.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {
namespace {

/// The rerun of a row of [Leviathan2023, Table 2]: its speed, and the draft cost that each of the two speeds implies.
std::string rerun_arithmetic(const PrintedNumber& speed, std::size_t original_row) {
  const PublishedTable original = published_table("leviathan_table2");
  const PrintedNumber alpha = original.number(original_row, "alpha");
  const auto gamma = static_cast<std::int64_t>(original.number(original_row, "gamma").value);
  const PrintedNumber printed = original.number(original_row, "speed_x");
  return fmt::format(
      "[Leviathan2023, Table 2] prints {} for the same task and drafter ({:+.0f} %); at its alpha {} and "
      "gamma {} the speeds need c = {:.3f} here and {:.3f} there",
      printed.text, 100.0 * (speed.value / printed.value - 1.0), alpha.text, gamma, implied_cost(alpha, gamma, speed).c,
      implied_cost(alpha, gamma, printed).c);
}

}  // namespace

ExperimentResult emnlp_table14(const ExperimentSettings& /*settings*/) {
  enum Row : std::size_t { greedy = 0, small_drafter = 1, large_drafter = 2, specdec = 3 };
  /// Rows of [Leviathan2023, Table 2]: EnDe at T = 0 with T5-small and T5-large.
  constexpr std::size_t original_small = 0;
  constexpr std::size_t original_large = 2;
  TableAccount account("emnlp-table14", "emnlp_table14", {"decoding_algorithm", "drafter"});
  const PublishedTable& table = account.published();
  account.inputs("drafter_size_b");
  account.out_of_reach("bleu", "BLEU needs the trained models");
  account.cell(greedy, "speed_x", input_cell("baseline"));
  account.cell(small_drafter, "speed_x",
               with_finding(unreachable_cell("their rerun"),
                            rerun_arithmetic(table.number(small_drafter, "speed_x"), original_small)));
  account.cell(large_drafter, "speed_x",
               with_finding(unreachable_cell("their rerun"),
                            rerun_arithmetic(table.number(large_drafter, "speed_x"), original_large)));
  account.cell(specdec, "speed_x", unreachable_cell("no tokens per iteration are printed"));
  constexpr double t5_small_b = 0.077;
  account.cell(
      small_drafter, "drafter_size_b",
      with_finding(input_cell(), fmt::format("[Leviathan2023] gives T5-small 77M parameters: {:.3f}, which rounds "
                                             "to 0.1 and is {:.0f} % smaller",
                                             t5_small_b, 100.0 * (1.0 - t5_small_b / 0.1))));
  return account.finish("SpecDec beside a rerun of Leviathan et al. [Xia2023, Table 14].");
}

}  // namespace foredraft::experiments
