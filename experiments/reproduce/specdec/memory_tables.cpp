// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {
namespace {

/// Rows of the tables of peaks.
enum MemoryRow : std::size_t { plain_decoding = 0, speculation = 1, delta = 2 };
constexpr std::int64_t small_batch = 1;
constexpr std::int64_t large_batch = 32;

std::string peak_column(std::int64_t batch) { return fmt::format("peak_mb_batch_{}", batch); }

/// `more`: words of the finding besides the difference.
void printed_delta(TableAccount& account, const std::string& column, const Fillings& more = {}) {
  Fillings words{account.published().text(speculation, column), account.published().text(plain_decoding, column)};
  words.insert(words.end(), more.begin(), more.end());
  account.exact(
      column, [&](const Cells& at) { return at(speculation, column) - at(plain_decoding, column); },
      [&](std::size_t) { return words; });
}

/// What a column of peaks grows by beyond the weights.
double above_weights(const PublishedTable& table, const std::string& column) {
  const auto growth = [&](const std::string& of) {
    return table.value(speculation, of) - table.value(plain_decoding, of);
  };
  return growth(column) - growth("model_weights_mb");
}

void translation_memory(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const PublishedTable& sister = published_table(account.declared().text("sister"));
  printed_delta(account, "model_weights_mb");
  for (const std::int64_t batch : {1, 4, 8, 16, 32}) {
    const std::string column = peak_column(batch);
    printed_delta(
        account, column,
        {above_weights(table, column), sister.value(delta, column) - sister.value(delta, "model_weights_mb")});
    // Peaks linear in the batch, through batch 1 and 32.
    account.compute(column, [&](std::size_t row) {
      const double weights = table.value(row, "model_weights_mb");
      const analytic::PeakMemory memory =
          analytic::peak_memory_through(weights, small_batch, table.value(row, peak_column(small_batch)), large_batch,
                                        table.value(row, peak_column(large_batch)));
      const double ours = analytic::peak_memory(memory, batch);
      const double printed = table.value(row, column);
      return Computed(ours, {memory.fixed, memory.per_row, 100.0 * (ours - printed) / (printed - weights)});
    });
  }
  // What the block itself can add: the drafter's encoder output and the block's logits, in MB of 10^6 bytes and single
  // precision.
  constexpr std::int64_t source_tokens = 128;
  constexpr std::int64_t width = 512;
  constexpr std::int64_t vocabulary = 32'000;
  constexpr std::int64_t block = 25;
  constexpr std::int64_t single_precision = 4;
  constexpr double mb = 1e6;
  for (const std::int64_t batch : {small_batch, large_batch}) {
    account.add_text("above_weights",
                     {batch, above_weights(table, peak_column(batch)),
                      analytic::encoder_output_bytes(batch, source_tokens, width, single_precision) / mb,
                      analytic::block_logits_bytes(batch, block, vocabulary, single_precision) / mb});
  }
}

void summarisation_memory(TableAccount& account, const ExperimentSettings& /*settings*/) {
  for (const std::string column : {"model_weights_mb", "memory_cost_mb"}) printed_delta(account, column);
}

constexpr double capacity_gb_mb = 48'000.0;   // 48 GB in MB
constexpr double capacity_gib_mb = 49'152.0;  // 48 GiB in MiB

/// The capacities for which the printed memory gives the printed percentage in every column.
Interval capacities_mb(const PublishedTable& table) {
  Interval all{0.0, std::numeric_limits<double>::infinity()};
  for (const char* column : {"batch_1", "batch_32"}) {
    const Interval memory = table.number(table.row_where({{"statistic", "memory_util_mb"}}), column).rounding;
    const Interval percent = table.number(table.row_where({{"statistic", "memory_util_percent"}}), column).rounding;
    all = {std::max(all.low, 100.0 * memory.low / percent.high), std::min(all.high, 100.0 * memory.high / percent.low)};
  }
  return all;
}

/// The sister table has the other task on the same device.
void large_model(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  for (const char* column : {"batch_1", "batch_32"}) {
    account.compute(column, [&](std::size_t row) {
      const PrintedNumber memory = table.number(row - 1, column);
      const RoundedValue of_gb = rounded(memory, 100.0 / capacity_gb_mb);
      const RoundedValue of_gib = rounded(memory, 100.0 / capacity_gib_mb);
      const Interval printed = table.number(row, column).rounding;
      const bool gib = !intersects(of_gb.rounding, printed) && intersects(of_gib.rounding, printed);
      return Computed(gib ? of_gib : of_gb, {gib ? "49,152" : "48,000", memory, of_gb.value, of_gib.value});
    });
  }
  account.add_text("capacities",
                   {capacities_mb(table), capacities_mb(published_table(account.declared().text("sister")))});
}

}  // namespace

TableCodes memory_tables() {
  return {{"emnlp-table8", translation_memory},   {"iclr-table14", translation_memory},
          {"emnlp-table9", summarisation_memory}, {"iclr-table15", summarisation_memory},
          {"emnlp-table10", large_model},         {"emnlp-table11", large_model},
          {"iclr-table16", large_model},          {"iclr-table17", large_model}};
}

}  // namespace foredraft::experiments
