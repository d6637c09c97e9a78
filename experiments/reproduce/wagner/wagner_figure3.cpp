// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

constexpr double bytes_of_a_mb = 1e6;

void add_pair(const VerificationPair& pair, DataText& data, ExperimentResult& result) {
  result.text += fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary);
  for (const auto& [name, variant] : call_variants) {
    for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
      const CallCost cost = call_cost(variant, pair, gamma);
      data.row().cell(pair.name).cell(static_cast<double>(pair.vocabulary));
      data.cell(static_cast<double>(pair.element_bytes)).cell(name).cell(static_cast<double>(gamma));
      data.cell(cost.moved_bytes / bytes_of_a_mb).cell(cost.launches).cell(cost.read_backs);
      data.cell(counted_call_us(cost));
    }
    const CallCost cost = call_cost(variant, pair, longest_swept_draft);
    const double time_us = counted_call_us(cost);
    result.text += fmt::format(" {} {:.1f} us ({:.1f} MB, launches {:.0f}, waits {:.0f})", name, time_us,
                               cost.moved_bytes / bytes_of_a_mb, cost.launches, cost.read_backs);
    result.rows.push_back(
        {.experiment = "wagner-figure3",
         .row = fmt::format("{}, {}", pair.name, name),
         .column = fmt::format("counted_call_us_gamma_{}", longest_swept_draft),
         .published = std::nullopt,
         .ours = time_us,
         .ours_interval = std::nullopt,
         .kind = Kind::predicted,
         .verdict = Verdict::shown,
         .note = fmt::format("counted, not measured: {}; the figure prints no number", counted_time_source())});
  }
  result.text += "\n";
}

}  // namespace

/// The time of one verification call against gamma. No measured profile has rows of these kernels yet, so it is
/// counted.
ExperimentResult wagner_figure3(const ExperimentSettings& /*settings*/) {
  DataText data({"pair", "vocabulary", "element_bytes", "variant", "gamma", "counted_moved_mb", "counted_launches",
                 "counted_read_backs", "counted_call_us"});
  ExperimentResult result;
  result.text = fmt::format(
      "time of one verification call against gamma: counted, not measured: {}. At gamma {}, MB of 10^6 bytes:\n",
      counted_time_source(), longest_swept_draft);
  for (const VerificationPair& pair : wagner_speech_pairs()) add_pair(pair, data, result);
  for (const VerificationPair& pair : wagner_text_pairs()) add_pair(pair, data, result);
  result.artifacts = {{"wagner-figure3.csv", data.csv()}};
  return result;
}

}  // namespace foredraft::experiments
