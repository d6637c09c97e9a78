// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <boost/math/tools/roots.hpp>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::array<std::string_view, 4> translation_directions{"en_de", "de_en", "en_ro", "ro_en"};
constexpr std::int64_t short_block = 10;
constexpr std::int64_t long_block = 25;

/// Root of a falling function.
template <class Function>
double root_of(Function f, double low, double high) {
  const auto [below, above] = boost::math::tools::bisect(f, low, high, boost::math::tools::eps_tolerance<double>(40));
  return 0.5 * (below + above);
}

/// The speed of one block size from the speed of another at equal acceptance; costs in tokens of plain decoding.
double speed_at_equal_acceptance(double speed, std::int64_t block, double cost, std::int64_t other_block,
                                 double other_cost) {
  return specdec_tokens(specdec_alpha(speed * cost, block), other_block) / other_cost;
}

/// Heads on the target draft almost for free: an iteration of k heads costs 1 + k * head_cost.
double heads_speed(double speed_short, double head_cost) {
  return speed_at_equal_acceptance(speed_short, short_block, 1.0 + static_cast<double>(short_block) * head_cost,
                                   long_block, 1.0 + static_cast<double>(long_block) * head_cost);
}

/// Rows of one baseline and system: k = 10, k = 25.
struct RowPair {
  std::size_t short_row;
  std::size_t long_row;
};

std::string speed_column(std::string_view direction) { return fmt::format("{}_speed_x", direction); }

void account_for_heads(TableAccount& account, const RowPair& rows) {
  const PublishedTable& table = account.published();
  const auto speed = [&](std::size_t row, std::string_view direction) {
    return table.number(row, speed_column(direction));
  };
  const double head_cost = root_of(
      [&](double cost) {
        return heads_speed(speed(rows.short_row, "en_de").value, cost) - speed(rows.long_row, "en_de").value;
      },
      1e-4, 0.05);
  for (const std::string_view direction : translation_directions) {
    const PrintedNumber at_short = speed(rows.short_row, direction);
    const PrintedNumber at_long = speed(rows.long_row, direction);
    const double ours = heads_speed(at_short.value, head_cost);
    account.cell(rows.short_row, speed_column(direction),
                 fitted_cell(at_short.value, "acceptance of this direction solved from this cell"));
    account.cell(
        rows.long_row, speed_column(direction),
        direction == "en_de"
            ? fitted_cell(ours, fmt::format("cost of a head, {:.4f} steps, solved from this cell", head_cost))
            : predicted_cell(ours, at_long, "acceptance from k = 10, cost of a head from EN-DE; finite sentences"));
  }
}

/// `scale`: cost of an iteration against that of Table 3, whose baseline has six decoder layers.
void account_for_blocks(TableAccount& account, const RowPair& rows, double scale, bool scale_from_en_de) {
  const PublishedTable& table = account.published();
  const analytic::Line cost = specdec_cost_line(published_table("emnlp_table3"));
  for (const std::string_view direction : translation_directions) {
    const PrintedNumber at_short = table.number(rows.short_row, speed_column(direction));
    const PrintedNumber at_long = table.number(rows.long_row, speed_column(direction));
    const double ours = speed_at_equal_acceptance(at_long.value, long_block, scale * specdec_cost(cost, long_block),
                                                  short_block, scale * specdec_cost(cost, short_block));
    account.cell(rows.long_row, speed_column(direction),
                 fitted_cell(at_long.value, "acceptance of this direction solved from this cell"));
    account.cell(
        rows.short_row, speed_column(direction),
        scale_from_en_de && direction == "en_de"
            ? fitted_cell(ours, fmt::format("cost of an iteration, {:.2f} times that of Table 3, solved from "
                                            "this cell",
                                            scale))
            : predicted_cell(ours, at_short, "acceptance from k = 25, cost line of Table 3; finite sentences"));
  }
}

double scale_of_shallow_decoder(const PublishedTable& table, const RowPair& rows) {
  const analytic::Line cost = specdec_cost_line(published_table("emnlp_table3"));
  const double at_short = table.number(rows.short_row, "en_de_speed_x").value;
  const double at_long = table.number(rows.long_row, "en_de_speed_x").value;
  return root_of(
      [&](double scale) {
        return speed_at_equal_acceptance(at_long, long_block, scale * specdec_cost(cost, long_block), short_block,
                                         scale * specdec_cost(cost, short_block)) -
               at_short;
      },
      0.5, 2.5);
}

}  // namespace

ExperimentResult emnlp_table1(const ExperimentSettings& /*settings*/) {
  TableAccount account("emnlp-table1", "emnlp_table1", {"baseline_block", "model", "beam", "k"});
  const PublishedTable& table = account.published();
  for (const std::string_view direction : translation_directions) {
    account.out_of_reach(fmt::format("{}_bleu", direction), "BLEU needs the trained models");
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.is_number(row, "beam")) account.cell(row, speed_column(direction), input_cell("baseline"));
    }
  }
  const auto pair_of = [&](std::string_view block, std::string_view model) {
    RowPair rows{.short_row = table.size(), .long_row = table.size()};
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.text(row, "baseline_block") != block || table.text(row, "model") != model) continue;
      (table.text(row, "k") == "10" ? rows.short_row : rows.long_row) = row;
    }
    return rows;
  };
  for (const std::string_view block : {"6+6 Transformer-base", "12+2 Transformer-base"}) {
    account_for_heads(account, pair_of(block, "Blockwise Decoding"));
    const RowPair rows = pair_of(block, "SpecDec");
    const bool shallow = block.starts_with("12");
    account_for_blocks(account, rows, shallow ? scale_of_shallow_decoder(table, rows) : 1.0, shallow);
  }
  return account.finish(
      "Speed and BLEU of four translation directions [Xia2023, Table 1]: each direction's acceptance from one block "
      "size predicts the other.");
}

}  // namespace foredraft::experiments
