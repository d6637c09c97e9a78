// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "analytic/cost/published_costs.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/wagner/wagner.hpp"

namespace foredraft::experiments {
namespace {

using analytic::VerificationVariant;
using gpu_bench::Verifier;

constexpr double bytes_per_mb = 1e6;

gpu_bench::VerificationShape shape_of(const VerificationPair& pair, std::int64_t gamma) {
  return {.batch = 1, .gamma = gamma, .vocabulary = pair.vocabulary};
}

latency::DataType type_of(const VerificationPair& pair) {
  return pair.element_bytes == 2 ? latency::DataType::fp16 : latency::DataType::fp32;
}

}  // namespace

const VerificationPair& wagner_pair(std::string_view run) {
  const auto* const found = std::find_if(wagner_pairs.begin(), wagner_pairs.end(), [run](const auto& pair) {
    return run.find(pair.target) != std::string_view::npos;
  });
  if (found == wagner_pairs.end()) {
    throw std::logic_error(fmt::format("no pair of networks has the target of {}", run));
  }
  return *found;
}

CallCost call_cost(Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  const gpu_bench::VerificationCost cost = gpu_bench::verification_cost(verifier, shape_of(pair, gamma), type_of(pair));
  return {.moved_bytes = cost.work.read_bytes + cost.work.written_bytes,
          .launches = static_cast<double>(cost.launches),
          .read_backs = static_cast<double>(cost.read_backs)};
}

double counted_call_us(const CallCost& cost) {
  /// 4,096 numbers of 8 bytes read and as many written at 25 GB/s, the fastest of the printed rates: the time of a
  /// kernel that has next to nothing to do, in a stream of 10,000.
  constexpr double small_kernel_us = 4096.0 * 16.0 / 25e9 * 1e6;
  static const double bytes_per_us =
      read_profile("a100-80gb").profile.limits.memory_bandwidth_bytes_per_s.value.value() / 1e6;
  return cost.launches * small_kernel_us + cost.moved_bytes / bytes_per_us;
}

double counted_call_gain(Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  return 1.0 - counted_call_us(call_cost(verifier, pair, gamma)) /
                   counted_call_us(call_cost(Verifier::hf_reference, pair, gamma));
}

namespace {

/// The three that the paper compares, and this project's own, which it has no memory of.
struct CallVariant {
  std::string_view name;
  Verifier verifier;
  std::optional<VerificationVariant> of_paper;
};
constexpr CallVariant call_variants[] = {{"baseline", Verifier::hf_reference, VerificationVariant::baseline},
                                         {"exact", Verifier::wagner_exact, VerificationVariant::exact},
                                         {"sigmoid", Verifier::wagner_sigmoid, VerificationVariant::sigmoid},
                                         {"fused_exact", Verifier::fused_exact, std::nullopt}};

double logit_rows_mb(const VerificationPair& pair, std::int64_t rows) {
  return analytic::block_logits_bytes(1, rows, pair.vocabulary, pair.element_bytes) / bytes_per_mb;
}

/// What a call holds at most, the logits included.
double peak_mb(const CallVariant& variant, const VerificationPair& pair, std::int64_t gamma) {
  if (variant.of_paper) return logit_rows_mb(pair, analytic::verification_peak_rows(*variant.of_paper, gamma));
  const gpu_bench::WorkspaceSize size =
      gpu_bench::verifier_workspace(variant.verifier, shape_of(pair, gamma), type_of(pair));
  return logit_rows_mb(pair, analytic::verification_logit_rows(gamma)) +
         4.0 * static_cast<double>(size.floats + size.counters) / bytes_per_mb;
}

void memory_figure(FigureAccount& figure, bool speech) {
  figure.say_declared("caption", {longest_swept_draft});
  for (const VerificationPair& pair : wagner_pairs) {
    if (pair.speech != speech) continue;
    figure.say(fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary));
    for (const CallVariant& variant : call_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        figure.row(pair.name, pair.vocabulary, pair.element_bytes, variant.name, gamma,
                   logit_rows_mb(pair, analytic::verification_logit_rows(gamma)), peak_mb(variant, pair, gamma));
      }
      const double peak = peak_mb(variant, pair, longest_swept_draft);
      figure.say(fmt::format(" {} {:.1f}", variant.name, peak));
      figure.score(fmt::format("{}, {}", pair.name, variant.name), fmt::format("peak_mb_gamma_{}", longest_swept_draft),
                   peak, figure.declared().text("counted"));
    }
    figure.say("\n");
  }
}

void wagner_figure4(FigureAccount& figure, const ExperimentSettings& /*settings*/) { memory_figure(figure, true); }
void wagner_figure5(FigureAccount& figure, const ExperimentSettings& /*settings*/) { memory_figure(figure, false); }

/// The time of one verification call against gamma. No measured profile has rows of these kernels yet, so it is
/// counted.
void wagner_figure3(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const std::string time_source = figure.declared().text("time_source");
  figure.say_declared("caption", {time_source, longest_swept_draft});
  for (const VerificationPair& pair : wagner_pairs) {
    figure.say(fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary));
    for (const CallVariant& variant : call_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        const CallCost cost = call_cost(variant.verifier, pair, gamma);
        figure.row(pair.name, pair.vocabulary, pair.element_bytes, variant.name, gamma, cost.moved_bytes / bytes_per_mb,
                   cost.launches, cost.read_backs, counted_call_us(cost));
      }
      const CallCost cost = call_cost(variant.verifier, pair, longest_swept_draft);
      const double time_us = counted_call_us(cost);
      figure.say_declared("pair",
                          {variant.name, time_us, cost.moved_bytes / bytes_per_mb, cost.launches, cost.read_backs});
      figure.score(fmt::format("{}, {}", pair.name, variant.name),
                   fmt::format("counted_call_us_gamma_{}", longest_swept_draft), time_us,
                   figure.declared().text("counted", {time_source}));
    }
    figure.say("\n");
  }
}

}  // namespace

ExperimentCodes wagner_figures() {
  return {{"wagner-figure3", wagner_figure3}, {"wagner-figure4", wagner_figure4}, {"wagner-figure5", wagner_figure5}};
}

}  // namespace foredraft::experiments
