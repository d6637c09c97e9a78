// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {
namespace {

/// Rows of all four tables.
enum MemoryRow : std::size_t { plain_decoding = 0, speculation = 1, delta = 2 };

std::string peak_column(std::int64_t batch) { return fmt::format("peak_mb_batch_{}", batch); }

/// The printed difference of a column by subtraction.
void account_for_delta(TableAccount& account, const std::string& column, const std::string& arithmetic_aside) {
  const PublishedTable& table = account.published();
  const PrintedNumber with = table.number(speculation, column);
  const PrintedNumber without = table.number(plain_decoding, column);
  const PrintedNumber printed = table.number(delta, column);
  const RoundedValue ours = rounded_difference(rounded(with), rounded(without));
  CellAnswer answer = exact_cell(ours, "second row minus the first");
  if (contradicts(ours, printed)) {
    answer = with_finding(answer, fmt::format("{} - {} = {:.1f}, not {}{}", with.text, without.text, ours.value,
                                              printed.text, arithmetic_aside));
  }
  account.cell(delta, column, answer);
}

/// Peaks linear in the batch, through batch 1 and 32.
void account_for_peaks(TableAccount& account, std::size_t row) {
  constexpr std::int64_t small = 1;
  constexpr std::int64_t large = 32;
  const PublishedTable& table = account.published();
  const double weights = table.number(row, "model_weights_mb").value;
  const analytic::PeakMemory memory = analytic::peak_memory_through(
      weights, small, table.number(row, peak_column(small)).value, large, table.number(row, peak_column(large)).value);
  for (const std::int64_t batch : {1, 4, 8, 16, 32}) {
    const PrintedNumber printed = table.number(row, peak_column(batch));
    const double ours = analytic::peak_memory(memory, batch);
    const std::string law =
        fmt::format("weights + {:.1f} + {:.2f} a sequence, through batch 1 and 32", memory.fixed, memory.per_row);
    account.cell(row, peak_column(batch),
                 batch == small || batch == large
                     ? fitted_cell(ours, law)
                     : predicted_cell(ours, printed,
                                      fmt::format("{}; {:+.1f} % of what comes on top of the weights", law,
                                                  100.0 * (ours - printed.value) / (printed.value - weights))));
  }
}

/// What the block itself can add at a batch: the drafter's encoder output and the block's logits, in MB of 10^6 bytes
/// and single precision, for 128 source tokens and a vocabulary of 32,000.
std::string block_bounds(std::int64_t batch) {
  constexpr std::int64_t source_tokens = 128;
  constexpr std::int64_t width = 512;
  constexpr std::int64_t vocabulary = 32'000;
  constexpr std::int64_t block = 25;
  constexpr std::int64_t single_precision = 4;
  constexpr double mb = 1e6;
  return fmt::format("encoder output {:.1f} MB, block logits at most {:.1f} MB",
                     analytic::encoder_output_bytes(batch, source_tokens, width, single_precision) / mb,
                     analytic::block_logits_bytes(batch, block, vocabulary, single_precision) / mb);
}

ExperimentResult translation_memory(const std::string& id, std::string_view table_name, const std::string& other_paper,
                                    const std::string& caption) {
  TableAccount account(id, table_name, {"model"});
  const PublishedTable& table = account.published();
  account.cell(plain_decoding, "model_weights_mb", input_cell());
  account.cell(speculation, "model_weights_mb", input_cell());
  account_for_peaks(account, plain_decoding);
  account_for_peaks(account, speculation);
  const PublishedTable other = published_table(other_paper);
  const double weights_delta =
      table.number(speculation, "model_weights_mb").value - table.number(plain_decoding, "model_weights_mb").value;
  const double other_weights = other.number(delta, "model_weights_mb").value;
  account_for_delta(account, "model_weights_mb", {});
  for (const std::int64_t batch : {1, 4, 8, 16, 32}) {
    const std::string column = peak_column(batch);
    const double above =
        table.number(speculation, column).value - table.number(plain_decoding, column).value - weights_delta;
    account_for_delta(account, column,
                      fmt::format("; {:.1f} MB above the difference of weights, as the sister table's {:.1f}", above,
                                  other.number(delta, column).value - other_weights));
  }
  ExperimentResult result = account.finish(caption);
  for (const std::int64_t batch : {1, 32}) {
    const std::string column = peak_column(batch);
    const double above =
        table.number(speculation, column).value - table.number(plain_decoding, column).value - weights_delta;
    result.text +=
        fmt::format(" batch {}: {:.1f} MB above the difference of weights ({})\n", batch, above, block_bounds(batch));
  }
  return result;
}

ExperimentResult summarisation_memory(const std::string& id, std::string_view table_name, const std::string& caption) {
  TableAccount account(id, table_name, {"model"});
  for (const std::string column : {"model_weights_mb", "memory_cost_mb"}) {
    account.cell(plain_decoding, column, input_cell());
    account.cell(speculation, column, input_cell());
    account_for_delta(account, column, {});
  }
  return account.finish(caption);
}

}  // namespace

ExperimentResult emnlp_table8(const ExperimentSettings& /*settings*/) {
  return translation_memory(
      "emnlp-table8", "emnlp_table8", "iclr_table14",
      "Peak memory in translation [Xia2023, Table 8]: differences by subtraction, peaks linear in "
      "the batch.");
}

ExperimentResult emnlp_table9(const ExperimentSettings& /*settings*/) {
  return summarisation_memory("emnlp-table9", "emnlp_table9",
                              "Memory in summarisation [Xia2023, Table 9]: differences by subtraction.");
}

ExperimentResult iclr_table14(const ExperimentSettings& /*settings*/) {
  return translation_memory("iclr-table14", "iclr_table14", "emnlp_table8",
                            "Peak memory in translation, ICLR submission [Xia2022, Table 14]: differences by "
                            "subtraction, peaks linear in the batch.");
}

ExperimentResult iclr_table15(const ExperimentSettings& /*settings*/) {
  return summarisation_memory("iclr-table15", "iclr_table15",
                              "Memory in summarisation, ICLR submission [Xia2022, Table 15]: differences by "
                              "subtraction.");
}

}  // namespace foredraft::experiments
