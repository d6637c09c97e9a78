// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/wagner_tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "experiments/reproduce/wagner/call_cost.hpp"

namespace foredraft::experiments {
namespace {

std::string without_prefix(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

}  // namespace

std::string wagner_run(const PublishedTable& table, std::size_t row) {
  const std::string& dataset = table.text(row, "dataset");
  const std::string& subset = table.text(row, "subset");
  return fmt::format("{}{}{} {}", dataset == "CNN/DM" ? "CNN/DailyMail" : dataset, subset.empty() ? "" : " ", subset,
                     without_prefix(table.text(row, "target"), "Whisper "));
}

std::size_t wagner_row(const PublishedTable& table, const std::string& run) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (wagner_run(table, row) == run) return row;
  }
  throw std::logic_error(fmt::format("no row of the published table is the run {}", run));
}

RoundedValue wagner_call_gain(const std::string& run, const std::string& variant, double whole) {
  const PublishedTable times = published_table("wagner_table4");
  const std::size_t row = wagner_row(times, run);
  return propagate_rounding(
      {rounded(times.number(row, "baseline_avg_ms")), rounded(times.number(row, variant + "_avg_ms"))},
      [whole](std::span<const double> ms) { return whole * (1.0 - ms[1] / ms[0]); });
}

CountedGain counted_gain(const std::string& run, const std::string& variant) {
  const CallVariant call = variant == "exact" ? CallVariant::exact : CallVariant::sigmoid;
  const VerificationPair& pair = wagner_pair(run);
  CountedGain gain{.at_first_gamma = counted_call_gain(call, pair, first_gamma), .over_gammas = {1.0, -1.0}};
  for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
    const double here = counted_call_gain(call, pair, gamma);
    gain.over_gammas.low = std::min(gain.over_gammas.low, here);
    gain.over_gammas.high = std::max(gain.over_gammas.high, here);
  }
  return gain;
}

void add_counted_row(ExperimentResult& result, const std::string& experiment, const std::string& run,
                     const std::string& column, double ours, const std::string& note) {
  result.rows.push_back({.experiment = experiment,
                         .row = run,
                         .column = column,
                         .published = std::nullopt,
                         .ours = ours,
                         .ours_interval = std::nullopt,
                         .kind = Kind::predicted,
                         .verdict = Verdict::shown,
                         .note = fmt::format("counted, not measured: {}", note)});
}

std::string percent_range(const std::vector<double>& shares) {
  const auto [least, greatest] = std::minmax_element(shares.begin(), shares.end());
  return fmt::format("{:.1f} to {:.1f}", 100.0 * *least, 100.0 * *greatest);
}

}  // namespace foredraft::experiments
