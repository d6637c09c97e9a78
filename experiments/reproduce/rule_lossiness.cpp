// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/rule_lossiness.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/text/table.hpp"
#include "scenario/family.hpp"
#include "sim/estimates.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"

// What every verification rule gives up for its acceptance, over its parameters: from the emitted laws themselves, and
// the acceptance once more by simulation.
namespace foredraft::experiments {
namespace {

/// Every context's p and q, drawn and written out once for all rules.
sim::TablePair drawn_contexts(const SyntheticModels& pair, std::uint64_t seed) {
  const sim::SyntheticPool pool(pair, seed);
  sim::TablePair contexts;
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    pool.target_distribution(k, 1.0, contexts.target.emplace_back(pool.vocabulary()));
    pool.draft_distribution(k, pool.strength(), 1.0, contexts.draft.emplace_back(pool.vocabulary()));
  }
  return contexts;
}

/// Exact in every context, so that only the choice of contexts is random.
sim::Lossiness mean_loss(const sim::TablePair& contexts, const Rule& rule) {
  const auto chosen = sim::make_rule(rule);
  std::vector<sim::PositionLossiness> positions;
  for (std::size_t k = 0; k < contexts.target.size(); ++k) {
    positions.push_back(sim::lossiness(*chosen, {.target = contexts.target[k], .draft = contexts.draft[k]}));
  }
  return sim::mean_lossiness(positions);
}

/// A run in the same contexts.
struct LossRun {
  Rule rule;
  std::int64_t gamma;
  std::uint64_t iterations;
};

sim::Tally simulate_loss(const sim::TablePair& contexts, const LossRun& run, const sim::RunKey& key, unsigned threads) {
  const auto simulator = sim::make_token_simulator({.models = contexts,
                                                    .rule = run.rule,
                                                    .temperature = 1.0,
                                                    .gamma = run.gamma,
                                                    .convention = Convention::bonus,
                                                    .drafting = Drafting::autoregressive,
                                                    .iterations = run.iterations},
                                                   key.seed);
  return sim::run(*simulator, key, threads);
}

/// Makes of log p a logit of mean 0, for softmax of Normal(0, s^2) logits: the mean of exp(z) is exp(s^2 / 2).
double sigmoid_shift(const SyntheticModels& pair) {
  return std::log(static_cast<double>(pair.vocabulary)) + 0.5 * pair.parameter * pair.parameter;
}

constexpr double logit_deviation = 3.0;
constexpr std::int64_t lossiness_gamma = 4;
constexpr std::uint64_t lossiness_iterations = 40'000;

SyntheticModels lossiness_pair(std::int64_t vocabulary, std::int64_t pool) {
  return {.target = TargetDistribution::gaussian_logits,
          .parameter = logit_deviation,
          .vocabulary = vocabulary,
          .draft = DraftDistribution::noise,
          .alpha = 0.7,
          .pool = pool};
}

/// A rule with its parameters: one point of one line of the figure.
struct LossinessSetting {
  std::string series;
  std::string rule;
  std::map<std::string, double> parameters;
  std::string label;  ///< the parameter that varies along the series
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
  return settings;
}

struct MeasuredRule {
  sim::Lossiness loss;
  Estimate simulated_acceptance;
};

MeasuredRule measure(const LossinessSetting& setting, const sim::TablePair& contexts, const sim::RunKey& key) {
  const Rule rule = scenario::make_rule(setting.rule, setting.parameters);
  const sim::Tally tally =
      simulate_loss(contexts, {.rule = rule, .gamma = lossiness_gamma, .iterations = lossiness_iterations}, key, 1);
  return {.loss = mean_loss(contexts, rule), .simulated_acceptance = sim::acceptance(tally).per_token};
}

/// Every setting on a thread of its own.
std::vector<MeasuredRule> measure_all(const std::vector<LossinessSetting>& rules, const sim::TablePair& rows,
                                      std::uint64_t first_point, const ExperimentSettings& settings) {
  std::vector<MeasuredRule> measured(rules.size());
  parallel_for(rules.size(), settings.threads, [&](std::uint64_t i) {
    measured[i] = measure(rules[i], rows, {.seed = settings.seed, .point = first_point + i});
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
  for (const SyntheticModels& pair : {lossiness_pair(256, 400), lossiness_pair(32'000, 16)}) {
    settings.note(fmt::format("rule-lossiness: {} tokens", pair.vocabulary));
    const std::vector<LossinessSetting> rules = lossiness_settings(pair);
    const std::vector<MeasuredRule> measured = measure_all(rules, drawn_contexts(pair, settings.seed), point, settings);
    point += rules.size();
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const auto& [loss, simulated] = measured[i];
      figure.row(pair.vocabulary, rules[i].series, rules[i].rule, rules[i].label, where_known(loss.acceptance),
                 simulated, where_known(loss.acceptance_gain), loss.total_variation, loss.kl_divergence,
                 loss.top1_agreement, loss.top1_probability);
      figure.shown({fmt::format("{}", pair.vocabulary), rules[i].series, rules[i].label, with_interval(loss.acceptance),
                    with_interval(simulated), with_interval(loss.acceptance_gain), with_interval(loss.total_variation),
                    with_interval(loss.kl_divergence), with_interval(loss.top1_agreement),
                    with_interval(loss.top1_probability)});
    }
  }
  figure.say_declared("heading");
  figure.say_table();
}

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

FigureCodes rule_checks() { return {{"rule-lossiness", rule_lossiness}}; }

}  // namespace foredraft::experiments
