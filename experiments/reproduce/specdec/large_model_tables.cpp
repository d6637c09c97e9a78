// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {
namespace {

constexpr double capacity_gb_mb = 48'000.0;   // 48 GB in MB
constexpr double capacity_gib_mb = 49'152.0;  // 48 GiB in MiB

/// The capacities for which the printed memory gives the printed percentage.
Interval capacities_mb(const PrintedNumber& memory, const PrintedNumber& percent) {
  return {100.0 * memory.rounding.low / percent.rounding.high, 100.0 * memory.rounding.high / percent.rounding.low};
}

RoundedValue percent_of(const PrintedNumber& memory, double capacity_mb) {
  const double scale = 100.0 / capacity_mb;
  return {.value = scale * memory.value, .rounding = {scale * memory.rounding.low, scale * memory.rounding.high}};
}

CellAnswer percentage(const PrintedNumber& memory, const PrintedNumber& percent) {
  const RoundedValue of_gb = percent_of(memory, capacity_gb_mb);
  const RoundedValue of_gib = percent_of(memory, capacity_gib_mb);
  if (!contradicts(of_gb, percent)) return exact_cell(of_gb, "of 48,000 MB");
  if (!contradicts(of_gib, percent)) return exact_cell(of_gib, "of 49,152 MB");
  return with_finding(
      exact_cell(of_gb, {}),
      fmt::format("{} MB are {:.2f} % of 48,000 MB and {:.2f} % of 49,152 MB; as printed only if rounded "
                  "to whole percent",
                  memory.text, of_gb.value, of_gib.value));
}

/// The sister table has the other task on the same device.
ExperimentResult large_model(const std::string& id, std::string_view table_name, std::string_view sister_name,
                             const std::string& caption) {
  TableAccount account(id, table_name, {"statistic"});
  const PublishedTable& table = account.published();
  const PublishedTable sister = published_table(sister_name);
  enum StatisticRow : std::size_t { latency = 0, memory = 1, percent = 2 };
  std::optional<Interval> here;
  std::optional<Interval> there;
  const auto meet = [](const std::optional<Interval>& a, const Interval& b) {
    return a ? Interval{std::max(a->low, b.low), std::min(a->high, b.high)} : b;
  };
  for (const std::string column : {"batch_1", "batch_32"}) {
    account.cell(latency, column, unreachable_cell("latency of T5-large on an A40"));
    account.cell(memory, column, input_cell());
    account.cell(percent, column, percentage(table.number(memory, column), table.number(percent, column)));
    here = meet(here, capacities_mb(table.number(memory, column), table.number(percent, column)));
    there = meet(there, capacities_mb(sister.number(memory, column), sister.number(percent, column)));
  }
  ExperimentResult result = account.finish(caption);
  result.text += fmt::format(
      " capacity that explains both percentages: {:.0f} to {:.0f} MB here, {:.0f} to {:.0f} MB in the sister table\n",
      here->low, here->high, there->low, there->high);
  return result;
}

}  // namespace

ExperimentResult emnlp_table10(const ExperimentSettings& /*settings*/) {
  return large_model("emnlp-table10", "emnlp_table10", "emnlp_table11",
                     "T5-large on a 48 GB A40, translation [Xia2023, Table 10]: memory as a share of the device.");
}

ExperimentResult emnlp_table11(const ExperimentSettings& /*settings*/) {
  return large_model("emnlp-table11", "emnlp_table11", "emnlp_table10",
                     "T5-large on a 48 GB A40, summarisation [Xia2023, Table 11]: memory as a share of the device.");
}

ExperimentResult iclr_table16(const ExperimentSettings& /*settings*/) {
  return large_model("iclr-table16", "iclr_table16", "iclr_table17",
                     "T5-large on a 48 GB A40, ICLR submission, translation [Xia2022, Table 16]: memory as a share of "
                     "the device.");
}

ExperimentResult iclr_table17(const ExperimentSettings& /*settings*/) {
  return large_model(
      "iclr-table17", "iclr_table17", "iclr_table16",
      "T5-large on a 48 GB A40, ICLR submission, summarisation [Xia2022, Table 17]: memory as a share of "
      "the device.");
}

}  // namespace foredraft::experiments
