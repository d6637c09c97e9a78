// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <span>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"

namespace foredraft::experiments {
namespace {

constexpr double bytes_per_mb = 1e6;

double logit_rows_mb(const VerificationPair& pair, std::int64_t rows) {
  return analytic::block_logits_bytes(1, rows, pair.vocabulary, pair.element_bytes) / bytes_per_mb;
}

/// What a call holds at most, the logits included.
double peak_mb(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  using analytic::VerificationVariant;
  const auto peak = [&](VerificationVariant variant) {
    return logit_rows_mb(pair, analytic::verification_peak_rows(variant, gamma));
  };
  switch (verifier) {
    case gpu_bench::Verifier::hf_reference:
      return peak(VerificationVariant::baseline);
    case gpu_bench::Verifier::wagner_exact:
      return peak(VerificationVariant::exact);
    case gpu_bench::Verifier::wagner_sigmoid:
      return peak(VerificationVariant::sigmoid);
    default:
      return logit_rows_mb(pair, analytic::verification_logit_rows(gamma)) +
             fused_memory_bytes(pair, gamma) / bytes_per_mb;
  }
}

/// The first cells of a row of both figures.
DataText& call_row(DataText& data, const VerificationPair& pair, const CallVariant& variant, std::int64_t gamma) {
  data.row().cell(pair.name).cell(static_cast<double>(pair.vocabulary)).cell(static_cast<double>(pair.element_bytes));
  return data.cell(variant.name).cell(static_cast<double>(gamma));
}

ExperimentResult memory_figure(const Declaration& declared, std::span<const VerificationPair> pairs) {
  DataText data = declared.data();
  ExperimentResult result{.text = declared.text("caption", {longest_swept_draft})};
  for (const VerificationPair& pair : pairs) {
    result.text += fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary);
    for (const CallVariant& variant : call_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        call_row(data, pair, variant, gamma).cell(logit_rows_mb(pair, analytic::verification_logit_rows(gamma)));
        data.cell(peak_mb(variant.verifier, pair, gamma));
      }
      const double peak = peak_mb(variant.verifier, pair, longest_swept_draft);
      result.text += fmt::format(" {} {:.1f}", variant.name, peak);
      result.rows.push_back({.experiment = declared.id(),
                             .row = fmt::format("{}, {}", pair.name, variant.name),
                             .column = fmt::format("peak_mb_gamma_{}", longest_swept_draft),
                             .ours = peak,
                             .note = declared.text("counted")});
    }
    result.text += "\n";
  }
  result.artifacts = {{declared.id() + ".csv", data.csv()}};
  return result;
}

ExperimentResult wagner_figure4(const Declaration& declared, const ExperimentSettings& /*settings*/) {
  return memory_figure(declared, wagner_speech_pairs());
}

ExperimentResult wagner_figure5(const Declaration& declared, const ExperimentSettings& /*settings*/) {
  return memory_figure(declared, wagner_text_pairs());
}

/// The time of one verification call against gamma. No measured profile has rows of these kernels yet, so it is
/// counted.
ExperimentResult wagner_figure3(const Declaration& declared, const ExperimentSettings& /*settings*/) {
  DataText data = declared.data();
  const std::string time_source = declared.text("time_source");
  ExperimentResult result{.text = declared.text("caption", {time_source, longest_swept_draft})};
  for (const auto& pairs : {wagner_speech_pairs(), wagner_text_pairs()}) {
    for (const VerificationPair& pair : pairs) {
      result.text += fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary);
      for (const CallVariant& variant : call_variants) {
        for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
          const CallCost cost = call_cost(variant.verifier, pair, gamma);
          call_row(data, pair, variant, gamma).cell(cost.moved_bytes / bytes_per_mb).cell(cost.launches);
          data.cell(cost.read_backs).cell(counted_call_us(cost));
        }
        const CallCost cost = call_cost(variant.verifier, pair, longest_swept_draft);
        const double time_us = counted_call_us(cost);
        result.text += declared.text(
            "pair", {variant.name, time_us, cost.moved_bytes / bytes_per_mb, cost.launches, cost.read_backs});
        result.rows.push_back({.experiment = declared.id(),
                               .row = fmt::format("{}, {}", pair.name, variant.name),
                               .column = fmt::format("counted_call_us_gamma_{}", longest_swept_draft),
                               .ours = time_us,
                               .note = declared.text("counted", {time_source})});
      }
      result.text += "\n";
    }
  }
  result.artifacts = {{declared.id() + ".csv", data.csv()}};
  return result;
}

}  // namespace

FigureCodes wagner_figures() {
  return {{"wagner-figure3", wagner_figure3}, {"wagner-figure4", wagner_figure4}, {"wagner-figure5", wagner_figure5}};
}

}  // namespace foredraft::experiments
