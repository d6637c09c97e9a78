#include <fmt/format.h>
#include <array>
#include <span>

#include "analytic/cost/memory_footprint.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/text/data_text.hpp"

namespace foredraft::experiments {
namespace {

using analytic::VerificationVariant;

constexpr double bytes_per_mb = 1e6;

struct NamedVariant {
  std::string_view name;
  VerificationVariant variant;
};
constexpr std::array verification_variants{NamedVariant{"baseline", VerificationVariant::baseline},
                                           NamedVariant{"exact", VerificationVariant::exact},
                                           NamedVariant{"sigmoid", VerificationVariant::sigmoid}};

double rows_mb(const VerificationPair& pair, std::int64_t rows) {
  return analytic::block_logits_bytes(1, rows, pair.vocabulary, pair.element_bytes) / bytes_per_mb;
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
    for (const auto& [name, variant] : verification_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        data.row().cell(pair.name).cell(static_cast<double>(pair.vocabulary));
        data.cell(static_cast<double>(pair.element_bytes)).cell(name).cell(static_cast<double>(gamma));
        data.cell(rows_mb(pair, analytic::verification_logit_rows(gamma)));
        data.cell(rows_mb(pair, analytic::verification_peak_rows(variant, gamma)));
      }
      const double peak = rows_mb(pair, analytic::verification_peak_rows(variant, longest_swept_draft));
      result.text += fmt::format(" {} {:.1f}", name, peak);
      result.rows.push_back({.experiment = id,
                             .row = fmt::format("{}, {}", pair.name, name),
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
