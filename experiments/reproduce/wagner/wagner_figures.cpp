// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <optional>
#include <span>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

using analytic::VerificationVariant;

constexpr double bytes_per_mb = 1e6;

/// The three of the paper; this project's own has none.
struct NamedVariant {
  std::string_view name;
  std::optional<VerificationVariant> variant;
};
constexpr std::array verification_variants{
    NamedVariant{"baseline", VerificationVariant::baseline}, NamedVariant{"exact", VerificationVariant::exact},
    NamedVariant{"sigmoid", VerificationVariant::sigmoid}, NamedVariant{"fused_exact", std::nullopt}};

double rows_mb(const VerificationPair& pair, std::int64_t rows) {
  return analytic::block_logits_bytes(1, rows, pair.vocabulary, pair.element_bytes) / bytes_per_mb;
}

/// What a call holds at most, the logits included.
double peak_mb(const NamedVariant& named, const VerificationPair& pair, std::int64_t gamma) {
  if (named.variant) return rows_mb(pair, analytic::verification_peak_rows(*named.variant, gamma));
  return rows_mb(pair, analytic::verification_logit_rows(gamma)) + fused_memory_bytes(pair, gamma) / bytes_per_mb;
}

ExperimentResult memory_figure(const std::string& id, const std::string& task,
                               std::span<const VerificationPair> pairs) {
  DataText data({"pair", "vocabulary", "element_bytes", "variant", "gamma", "analytic_logits_mb", "analytic_peak_mb"});
  ExperimentResult result;
  result.text = fmt::format(
      "memory of one verification call against gamma, {}: counted from shapes and number format, not measured "
      "(MB of 10^6 bytes, at gamma {})\n",
      task, longest_swept_draft);
  for (const VerificationPair& pair : pairs) {
    result.text += fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary);
    for (const NamedVariant& named : verification_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        data.row().cell(pair.name).cell(static_cast<double>(pair.vocabulary));
        data.cell(static_cast<double>(pair.element_bytes)).cell(named.name).cell(static_cast<double>(gamma));
        data.cell(rows_mb(pair, analytic::verification_logit_rows(gamma)));
        data.cell(peak_mb(named, pair, gamma));
      }
      const double peak = peak_mb(named, pair, longest_swept_draft);
      result.text += fmt::format(" {} {:.1f}", named.name, peak);
      result.rows.push_back({.experiment = id,
                             .row = fmt::format("{}, {}", pair.name, named.name),
                             .column = fmt::format("peak_mb_gamma_{}", longest_swept_draft),
                             .published = std::nullopt,
                             .ours = peak,
                             .ours_interval = std::nullopt,
                             .kind = Kind::predicted,
                             .verdict = Verdict::shown,
                             .note = "counted, not measured: what one call holds; the figure prints no number"});
    }
    result.text += "\n";
  }
  result.artifacts = {{id + ".csv", data.csv()}};
  return result;
}

}  // namespace

ExperimentResult wagner_figure4(const ExperimentSettings& /*settings*/) {
  return memory_figure("wagner-figure4", "speech recognition", wagner_speech_pairs());
}

ExperimentResult wagner_figure5(const ExperimentSettings& /*settings*/) {
  return memory_figure("wagner-figure5", "summarisation", wagner_text_pairs());
}

}  // namespace foredraft::experiments
