// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/sigmoid_loss.hpp"

#include <array>

#include "experiments/reproduce/rule_lossiness.hpp"
#include "sim/estimates.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t drafts_per_call = 5;

const SyntheticModels loss_pair{.target = TargetDistribution::gaussian_logits,
                                .parameter = 3.0,
                                .vocabulary = 512,
                                .draft = DraftDistribution::noise,
                                .alpha = 0.8,
                                .pool = 48};

struct LossSetting {
  std::optional<double> scale;
  int bits;
};

constexpr std::array loss_settings{LossSetting{std::nullopt, 64}, LossSetting{1.0, 64},   LossSetting{10.0, 64},
                                   LossSetting{100.0, 64},        LossSetting{1e4, 64},   LossSetting{1.0, 16},
                                   LossSetting{10.0, 16},         LossSetting{100.0, 16}, LossSetting{1e4, 16}};

Rule loss_rule(const LossSetting& setting) {
  if (!setting.scale) return RejectionSampling{};
  return SigmoidApproximation{.scale_low = -*setting.scale,
                              .scale_high = *setting.scale,
                              .logit_shift = sigmoid_shift(loss_pair),
                              .bits = setting.bits};
}

}  // namespace

std::vector<SigmoidLoss> sigmoid_losses(const ExperimentSettings& settings) {
  const sim::TablePair contexts = drawn_contexts(loss_pair, settings.seed);
  std::vector<SigmoidLoss> losses;
  for (const LossSetting& setting : loss_settings) {
    const Rule rule = loss_rule(setting);
    const Estimate tokens = sim::tokens_per_iteration(
        simulate_loss(contexts, {.rule = rule, .gamma = drafts_per_call, .iterations = sigmoid_loss_iterations},
                      {.seed = settings.seed, .point = losses.size(), .stop = settings.stop}, settings.threads));
    losses.push_back({.scale = setting.scale,
                      .bits = setting.bits,
                      .tokens = tokens,
                      .call_ratio = losses.empty() ? 1.0 : losses.front().tokens.mean / tokens.mean,
                      .law = mean_loss(contexts, rule)});
  }
  return losses;
}

Fillings sigmoid_loss_setting() {
  return {loss_pair.parameter, loss_pair.vocabulary, loss_pair.alpha, drafts_per_call, loss_pair.pool};
}

}  // namespace foredraft::experiments
