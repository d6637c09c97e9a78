// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/artifacts.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/sigmoid_loss.hpp"

namespace foredraft::experiments {
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
