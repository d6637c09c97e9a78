// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/rule_lossiness.hpp"

#include <fmt/format.h>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "foredraft/lossiness.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/rules.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rules/verification_rule.hpp"

// Loss and acceptance of every verification rule over its parameters. Computed exactly from emitted distributions;
// acceptance is also simulated.
namespace foredraft::experiments {
namespace {

/// p and q of all contexts, computed once for all rules.
GivenModels drawn_contexts(const SyntheticModels& pair, std::uint64_t seed) {
  return {std::make_shared<const GivenDistributions>(sim::written_out(sim::SyntheticPool(pair, seed)))};
}

/// Exact for every context; only the choice of contexts is random.
Lossiness mean_loss(const GivenModels& contexts, const Rule& rule) {
  return lossiness({.fidelity = TokenFidelity{.rule = rule, .models = contexts}, .gamma = 1});
}

/// A simulation with the same contexts and the common number of iterations.
sim::Tally simulate_loss(const GivenModels& contexts, const Rule& rule, std::int64_t gamma, const sim::RunKey& key,
                         unsigned threads) {
  const auto simulator =
      sim::make_simulator({.fidelity = TokenFidelity{.rule = rule, .models = contexts}, .gamma = gamma},
                          {.iterations = sigmoid_loss_iterations});
  return sim::run(*simulator, key, threads);
}

/// Shift that gives log p of softmax of Normal(0, s^2) logits mean 0: the mean of exp(z) is exp(s^2 / 2).
double sigmoid_shift(const SyntheticModels& pair) {
  return std::log(static_cast<double>(pair.vocabulary)) + 0.5 * pair.parameter * pair.parameter;
}

/// A target with softmax of Normal(0, 9) logits, and a drafter that is the target with noise.
SyntheticModels noisy_pair(std::int64_t vocabulary, double alpha, std::int64_t pool) {
  return {.target = TargetDistribution::gaussian_logits,
          .parameter = 3.0,
          .vocabulary = vocabulary,
          .draft = DraftDistribution::noise,
          .alpha = alpha,
          .pool = pool};
}

/// A rule with its parameters: one point of one line of the figure.
struct LossinessSetting {
  std::string series;
  std::string rule;
  std::map<std::string, double> parameters;
  std::string label;  ///< value of the parameter that varies along the series
};

/// `parameter` over `values`, everything else as in `fixed`.
void add_series(std::vector<LossinessSetting>& settings, const std::string& series, const std::string& rule,
                const std::string& parameter, const std::vector<double>& values,
                const std::map<std::string, double>& fixed = {}) {
  for (const double value : values) {
    std::map<std::string, double> parameters = fixed;
    parameters[parameter] = value;
    settings.push_back({series, rule, parameters, fmt::format("{} {}", parameter, value)});
  }
}

std::vector<LossinessSetting> lossiness_settings(const SyntheticModels& pair) {
  std::vector<LossinessSetting> settings{{"accept_all", "accept_all", {}, ""},
                                         {"greedy_match", "greedy_match", {}, ""}};
  const std::vector<double> leniences{1.0, 0.8, 0.6, 0.4, 0.2, 0.05};
  add_series(settings, "lenient", "lenient", "lenience", leniences);
  add_series(settings, "lenient, residual of p and q", "lenient", "lenience", leniences, {{"residual", 0.0}});
  const std::vector<double> candidates{2.0, 4.0, 8.0};
  add_series(settings, "multi_candidate", "multi_candidate", "candidates", candidates);
  add_series(settings, "multi_candidate, distinct", "multi_candidate", "candidates", candidates,
             {{"replacement", 0.0}});
  settings.push_back({"rejection_sampling", "rejection_sampling", {}, ""});
  const auto add_sigmoid = [&](double bits, const std::vector<double>& scales) {
    const double shift = sigmoid_shift(pair);
    for (const double scale : scales) {
      settings.push_back({fmt::format("sigmoid_approximation, {} bits", bits),
                          "sigmoid_approximation",
                          {{"scale_low", -scale}, {"scale_high", scale}, {"logit_shift", shift}, {"bits", bits}},
                          fmt::format("scale {}", scale)});
    }
  };
  add_sigmoid(64.0, {0.3, 1.0, 3.0, 10.0, 100.0});
  add_sigmoid(16.0, {3.0, 100.0, 10'000.0});
  const std::vector<double> tolerances{0.0, 0.5, 1.0, 2.0, 5.0};
  add_series(settings, "top_beta", "top_beta", "tolerance", tolerances);
  add_series(settings, "top_beta, judged by q", "top_beta", "tolerance", tolerances, {{"judged", 1.0}});
  add_series(settings, "typical_acceptance", "typical_acceptance", "epsilon", {0.95, 0.5, 0.2, 0.09, 0.03, 0.01});
  add_series(settings, "cascade_chow", "cascade_chow", "margin", {0.2, 0.4, 0.6, 0.7, 0.8, 0.9});
  add_series(settings, "cascade_opt", "cascade_opt", "margin", {-0.5, 0.0, 0.2, 0.4, 0.6, 1.0});
  add_series(settings, "k_seq", "k_seq", "candidates", candidates);
  add_series(settings, "top_n_delta", "top_n_delta", "relaxed_delta", {0.0, 0.05, 0.1, 0.2, 0.6});
  return settings;
}

/// Rules added later. Their runs follow all others, so that these keep their random numbers.
std::vector<LossinessSetting> later_settings() {
  std::vector<LossinessSetting> settings{{"block_verification", "block_verification", {}, ""}};
  add_series(settings, "cascade_diff", "cascade_diff", "margin", {-0.2, 0.0, 0.2, 0.4, 0.6, 0.8});
  add_series(settings, "sglang_thresholds", "sglang_thresholds", "threshold_single", {1.0, 0.9, 0.6, 0.3, 0.1, 0.03});
  add_series(settings, "sglang_thresholds, accumulated", "sglang_thresholds", "threshold_acc",
             {1.0, 0.8, 0.6, 0.4, 0.2, 0.05}, {{"threshold_single", 1.0}});
  return settings;
}

struct MeasuredRule {
  Lossiness loss;
  Estimate simulated_acceptance;
};

/// Measures every setting, in parallel.
std::vector<MeasuredRule> measure_all(const std::vector<LossinessSetting>& rules, const GivenModels& contexts,
                                      std::uint64_t first_point, const ExperimentSettings& settings) {
  constexpr std::int64_t gamma = 4;
  std::vector<MeasuredRule> measured(rules.size());
  parallel_for(rules.size(), settings.threads, [&](std::uint64_t i) {
    const Rule rule = scenario::make_rule(rules[i].rule, rules[i].parameters);
    const sim::RunKey key{.seed = settings.seed, .point = first_point + i};
    measured[i] = {mean_loss(contexts, rule), sim::acceptance(simulate_loss(contexts, rule, gamma, key, 1)).per_token};
    if (!sim::make_rule(rule)->verifies_blocks()) return;
    measured[i].loss.acceptance = unknown<Estimate>;  // it is for a single draft, but there are gamma
    measured[i].loss.acceptance_gain = unknown<Estimate>;
  });
  return measured;
}

std::string with_interval(const Estimate& estimate) {
  if (std::isnan(estimate.mean)) return "";
  return fmt::format("{:.4f} +- {:.4f}", estimate.mean, normal_quantile(0.95) * estimate.standard_error);
}

std::optional<Estimate> where_known(const Estimate& estimate) {
  return std::isnan(estimate.mean) ? std::nullopt : std::optional(estimate);
}

void rule_lossiness(FigureAccount& figure, const ExperimentSettings& settings) {
  std::uint64_t point = 0;
  for (const bool later : {false, true}) {
    for (const SyntheticModels& pair : {noisy_pair(256, 0.7, 400), noisy_pair(32'000, 0.7, 16)}) {
      settings.note(fmt::format("rule-lossiness: {} tokens", pair.vocabulary));
      const std::vector<LossinessSetting> rules = later ? later_settings() : lossiness_settings(pair);
      const std::vector<MeasuredRule> measured =
          measure_all(rules, drawn_contexts(pair, settings.seed), point, settings);
      point += rules.size();
      for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto& [loss, simulated] = measured[i];
        figure.row(pair.vocabulary, rules[i].series, rules[i].rule, rules[i].label, where_known(loss.acceptance),
                   simulated, where_known(loss.acceptance_gain), loss.total_variation, loss.kl_divergence,
                   loss.top1_agreement, loss.top1_probability);
        figure.shown({fmt::format("{}", pair.vocabulary), rules[i].series, rules[i].label,
                      with_interval(loss.acceptance), with_interval(simulated), with_interval(loss.acceptance_gain),
                      with_interval(loss.total_variation), with_interval(loss.kl_divergence),
                      with_interval(loss.top1_agreement), with_interval(loss.top1_probability)});
      }
    }
  }
  figure.say_declared("heading");
  figure.say_table();
}

constexpr std::int64_t drafts_per_call = 5;

SyntheticModels sigmoid_pair() { return noisy_pair(512, 0.8, 48); }

}  // namespace

std::vector<SigmoidLoss> sigmoid_losses(const ExperimentSettings& settings) {
  const GivenModels contexts = drawn_contexts(sigmoid_pair(), settings.seed);
  std::vector<SigmoidLoss> losses;
  const auto add = [&](const Rule& rule, std::optional<double> scale, int bits) {
    const sim::RunKey key{.seed = settings.seed, .point = losses.size(), .stop = settings.stop};
    const Estimate tokens =
        sim::tokens_per_iteration(simulate_loss(contexts, rule, drafts_per_call, key, settings.threads));
    losses.push_back({.scale = scale,
                      .bits = bits,
                      .tokens = tokens,
                      .call_ratio = losses.empty() ? 1.0 : losses.front().tokens.mean / tokens.mean,
                      .distribution = mean_loss(contexts, rule)});
  };
  add(RejectionSampling{}, std::nullopt, 64);
  const double shift = sigmoid_shift(sigmoid_pair());
  for (const int bits : {64, 16}) {
    for (const double scale : {1.0, 10.0, 100.0, 1e4}) {
      add(SigmoidApproximation{.scale_low = -scale, .scale_high = scale, .logit_shift = shift, .bits = bits}, scale,
          bits);
    }
  }
  return losses;
}

namespace {

/// The printed effects need the trained networks; shows the effect of such scales on a synthetic pair instead.
void wagner_table5(TableAccount& account, const ExperimentSettings& settings) {
  const Declaration& declared = account.declared().part("loss");
  const SyntheticModels pair = sigmoid_pair();
  const std::string caption =
      declared.said("caption", pair.parameter, pair.vocabulary, pair.alpha, drafts_per_call, pair.pool);
  FigureAccount losses(declared, caption);
  for (const SigmoidLoss& loss : sigmoid_losses(settings)) {
    losses.shown({loss.scale ? fmt::format("+-{:g}", *loss.scale) : "softmax", fmt::format("{}", loss.bits),
                  fmt::format("{:.4f}", loss.distribution.acceptance.mean), fmt::format("{:.3f}", loss.tokens.mean),
                  fmt::format("{:.3f}", normal_quantile(0.95) * loss.tokens.standard_error),
                  fmt::format("{:.2f}x", loss.call_ratio),
                  fmt::format("{:.4f}", loss.distribution.total_variation.mean),
                  fmt::format("{:.4f}", loss.distribution.kl_divergence.mean),
                  fmt::format("{:.3f}", loss.distribution.top1_probability.mean)});
  }
  losses.say(caption + "\n");
  losses.say_table();
  account.after().append(losses.finish());
}

}  // namespace

ExperimentCodes rule_checks() { return {{"rule-lossiness", rule_lossiness}, {"wagner-table5", wagner_table5}}; }

}  // namespace foredraft::experiments
