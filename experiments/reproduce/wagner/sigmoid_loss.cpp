// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/sigmoid_loss.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>

#include "sim/estimates.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t drafts_per_call = 5;
constexpr double loss_logit_deviation = 3.0;

const SyntheticModels loss_pair{.target = TargetDistribution::gaussian_logits,
                                .parameter = loss_logit_deviation,
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

Rule rule_of(const LossSetting& setting) {
  if (!setting.scale) return RejectionSampling{};
  // The mean of exp(z) over Normal(0, s^2) logits is exp(s^2 / 2): this makes of log p a logit of mean 0.
  const double log_sum =
      std::log(static_cast<double>(loss_pair.vocabulary)) + loss_logit_deviation * loss_logit_deviation / 2.0;
  return SigmoidApproximation{
      .scale_low = -*setting.scale, .scale_high = *setting.scale, .logit_shift = log_sum, .bits = setting.bits};
}

/// The contexts of the pair as rows, drawn once for every setting.
GivenDistributions drawn_contexts(std::uint64_t seed) {
  const sim::SyntheticPool pool(loss_pair, seed);
  GivenDistributions rows;
  for (std::size_t context = 0; context < pool.contexts(); ++context) {
    pool.target_distribution(context, 1.0, rows.target.emplace_back(pool.vocabulary()));
    pool.draft_distribution(context, pool.strength(), 1.0, rows.draft.emplace_back(pool.vocabulary()));
  }
  return rows;
}

/// Exact in every context, so that only the choice of contexts is random.
Lossiness measure_laws(const GivenDistributions& rows, const sim::VerificationRule& rule) {
  std::vector<sim::PositionLossiness> positions;
  for (std::size_t context = 0; context < rows.target.size(); ++context) {
    positions.push_back(sim::lossiness(rule, {.target = rows.target[context], .draft = rows.draft[context]}));
  }
  return sim::mean_lossiness(positions);
}

Estimate simulated_tokens(const GivenDistributions& rows, const LossSetting& setting, std::uint64_t point,
                          const ExperimentSettings& settings) {
  const auto simulator = sim::make_token_simulator({.models = rows,
                                                    .rule = rule_of(setting),
                                                    .temperature = 1.0,
                                                    .gamma = drafts_per_call,
                                                    .convention = Convention::bonus,
                                                    .drafting = Drafting::autoregressive,
                                                    .iterations = sigmoid_loss_iterations},
                                                   settings.seed);
  return sim::tokens_per_iteration(
      sim::run(*simulator, {.seed = settings.seed, .point = point, .stop = settings.stop}, settings.threads));
}

}  // namespace

std::vector<SigmoidLoss> sigmoid_losses(const ExperimentSettings& settings) {
  const GivenDistributions rows = drawn_contexts(settings.seed);
  std::vector<SigmoidLoss> losses;
  for (const LossSetting& setting : loss_settings) {
    const auto rule = sim::make_rule(rule_of(setting));
    const Estimate tokens = simulated_tokens(rows, setting, losses.size(), settings);
    losses.push_back({.scale = setting.scale,
                      .bits = setting.bits,
                      .tokens = tokens,
                      .call_ratio = losses.empty() ? 1.0 : losses.front().tokens.mean / tokens.mean,
                      .law = measure_laws(rows, *rule)});
  }
  return losses;
}

std::string sigmoid_loss_caption() {
  return fmt::format(
      "What the sigmoid approximation does to a synthetic pair (logits Normal(0, {:g}^2) over {} tokens, acceptance "
      "{:g}, gamma {}): tokens simulated with 95 % intervals, the emitted law exact in {} contexts.",
      loss_logit_deviation, loss_pair.vocabulary, loss_pair.alpha, drafts_per_call, loss_pair.pool);
}

}  // namespace foredraft::experiments
