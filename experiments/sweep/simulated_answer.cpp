// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/drafting_law.hpp"
#include "sim/estimates.hpp"
#include "sim/token/rules/rule_registry.hpp"
#include "sim/token/token_simulation.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::experiments {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

sim::AcceptanceProcess process_of(const PointInputs& inputs, Resources& resources) {
  switch (inputs.process) {
    case ProcessKind::iid:
      return sim::Iid{inputs.alpha};
    case ProcessKind::positional:
      return sim::Positional{inputs.conditional};
    case ProcessKind::beta_mixture:
      return sim::BetaMixture{inputs.process_a, inputs.process_b};
    case ProcessKind::markov:
      return sim::Markov{inputs.process_a, inputs.process_b};
    case ProcessKind::trace:
      return resources.trace(inputs.trace_file, inputs.recorded_gamma, inputs.convention);
  }
  throw std::logic_error("unknown process");
}

/// A rule takes no parameter of another rule, though a sweep over rules may hold both.
std::map<std::string, double> parameters_of_rule(const PointInputs& inputs) {
  const auto& rules = sim::rule_registry();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [&](const auto& entry) { return entry.name == inputs.rule; });
  std::map<std::string, double> own;
  if (rule == rules.end()) return own;
  for (const sim::RuleParameter& parameter : rule->parameters) {
    const auto given = inputs.rule_parameters.find(std::string(parameter.name));
    if (given != inputs.rule_parameters.end()) own.insert(*given);
  }
  return own;
}

sim::ModelPair models_of(const PointInputs& inputs, Resources& resources) {
  const ModelInputs& models = inputs.models;
  if (inputs.drafter == "prompt_lookup") {
    return sim::PromptLookup{.target = resources.ngram_target(models),
                             .match = static_cast<std::int64_t>(inputs.drafter_parameters.at("match")),
                             .window = static_cast<std::int64_t>(inputs.drafter_parameters.at("window"))};
  }
  if (models.ngram) return resources.ngram_pair(inputs);
  return sim::SyntheticPair{.target = models.target,
                            .parameter = models.parameter,
                            .vocabulary = models.vocabulary,
                            .draft = models.draft,
                            .alpha = models.alpha,
                            .pool = models.pool};
}

/// Variance of the tokens of one iteration, with its standard error from the fourth moment of the histogram.
Estimate tokens_variance(const sim::Tally& tally, bool independent) {
  const double variance = sim::tokens_variance(tally);
  if (!independent) return {variance, nan};
  double count = 0.0;
  double sum = 0.0;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    count += static_cast<double>(tally.tokens_count[k]);
    sum += static_cast<double>(tally.tokens_count[k]) * static_cast<double>(k + 1);
  }
  double second = 0.0;
  double fourth = 0.0;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    const double square = std::pow(static_cast<double>(k + 1) - sum / count, 2);
    second += static_cast<double>(tally.tokens_count[k]) * square / count;
    fourth += static_cast<double>(tally.tokens_count[k]) * square * square / count;
  }
  return {variance, std::sqrt(std::max(0.0, fourth - second * second) / count)};
}

/// A hundred units in the last place: closed form and estimate are a handful of double operations from exact numbers.
constexpr double estimate_round_off = 2e-14;

/// NaN in an estimate means "not estimable": the cell is empty.
std::optional<Estimate> known(const Estimate& estimate) {
  return std::isnan(estimate.mean) ? std::nullopt : std::optional(estimate);
}

}  // namespace

std::unique_ptr<sim::Simulator> make_simulator(const PointInputs& inputs, const SimulationPlan& plan,
                                               Resources& resources) {
  if (inputs.fidelity == Fidelity::system) return make_server(inputs, plan);
  if (inputs.fidelity == Fidelity::token) {
    return sim::make_token_simulator({.models = models_of(inputs, resources),
                                      .rule = inputs.rule,
                                      .rule_parameters = parameters_of_rule(inputs),
                                      .temperature = inputs.temperature,
                                      .gamma = inputs.gamma,
                                      .convention = inputs.convention,
                                      .drafting = inputs.drafting,
                                      .contexts = inputs.contexts,
                                      .iterations = plan.iterations},
                                     plan.seed);
  }
  std::optional<sim::SequenceLaw> sequence;
  if (inputs.sequence_length) sequence = sim::SequenceLaw{*inputs.sequence_length, inputs.geometric_length};
  return sim::make_process_simulator(with_drafter_and_policy(inputs, {.process = process_of(inputs, resources),
                                                                      .gamma = inputs.gamma,
                                                                      .convention = inputs.convention,
                                                                      .drafting = inputs.drafting,
                                                                      .iterations = plan.iterations,
                                                                      .sequence = sequence,
                                                                      .sequences = plan.sequences,
                                                                      .path = plan.path}));
}

double pool_acceptance(const PointInputs& inputs, const sim::Simulator& simulator) {
  const bool iterations_are_iid = inputs.fidelity == Fidelity::token && !inputs.models.ngram;
  return iterations_are_iid ? sim::expected_acceptance(simulator) : nan;
}

SimulatedAnswer simulated_answer(const PointInputs& inputs, const sim::Tally& tally) {
  SimulatedAnswer answer{{},
                         static_cast<std::uint64_t>(tally.units.sum(sim::iterations)),
                         static_cast<std::uint64_t>(tally.units.count())};
  auto& estimates = answer.estimates;
  estimates[tokens_per_iteration_metric] = known(sim::tokens_per_iteration(tally));
  estimates[tokens_variance_metric] = known(tokens_variance(tally, answer.units == answer.iterations));
  estimates[memory_access_factor_metric] = known(sim::memory_access_factor(tally));
  if (const auto cost = decoding_cost(inputs)) estimates[speedup_metric] = known(sim::speedup(tally, *cost));
  if (inputs.operations_ratio) {
    estimates[operations_factor_metric] =
        known(sim::operations_factor(tally, *inputs.operations_ratio, inputs.convention));
  }
  const auto ratio = [&](sim::Quantity top, sim::Quantity bottom) {
    std::array<double, sim::quantity_count> numerator{};
    std::array<double, sim::quantity_count> denominator{};
    numerator[top] = 1.0;
    denominator[bottom] = 1.0;
    return known(ratio_estimate(tally.units, numerator, denominator));
  };
  estimates[per_token_metric] = ratio(sim::accepted, sim::tested);
  estimates[accepted_over_drafted_metric] = ratio(sim::accepted, sim::drafted);
  if (gamma_varies(inputs) || !inputs.serving.gamma_schedule.empty()) {
    estimates[mean_gamma_metric] = ratio(sim::drafted, sim::iterations);
  }
  if (inputs.fidelity == Fidelity::system) add_serving_estimates(inputs, tally.serving, answer);
  return answer;
}

std::optional<double> deviation_in_se(const AnalyticAnswer& analytic, const SimulatedAnswer& simulated,
                                      std::size_t metric) {
  const std::optional<double>& expected = analytic[metric];
  const std::optional<Estimate>& estimate = simulated.estimates[metric];
  if (!expected || !estimate || std::isnan(estimate->standard_error)) return std::nullopt;
  const double difference = estimate->mean - *expected;
  const double rounding = estimate_round_off * std::max(std::abs(*expected), std::abs(estimate->mean));
  if (std::abs(difference) <= rounding) return 0.0;
  if (estimate->standard_error > rounding) return difference / estimate->standard_error;
  const std::optional<double>& variance = analytic[tokens_variance_metric];
  if (!variance || simulated.units != simulated.iterations) return std::nullopt;
  const double implied = std::sqrt(std::max(0.0, *variance) / static_cast<double>(simulated.units));
  if (metric == tokens_per_iteration_metric) return difference / std::max(rounding, implied);
  // Where tokens cannot vary, no other metric does: the difference is no accident.
  return implied > 0.0 ? std::nullopt : std::optional(difference / rounding);
}

}  // namespace foredraft::experiments
