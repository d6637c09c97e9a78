// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/answer.hpp"

#include <fmt/format.h>
#include <limits>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/answer/prediction.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/draft_length/draft_length_rules.hpp"
#include "core/check.hpp"
#include "foredraft/predict.hpp"
#include "scenario/check.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::analytic {
namespace {

const SequenceLength* sequence_of(const Scenario& scenario) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  return process != nullptr && process->sequence_length ? &*process->sequence_length : nullptr;
}

/// Draft passes of an iteration; nullopt if their number varies in an unknown way.
std::optional<double> draft_passes_of(const Scenario& scenario, std::optional<double> mean_gamma) {
  const Drafting drafting = scenario::drafting(scenario.drafter);
  if (!scenario::gamma_varies(scenario)) return static_cast<double>(draft_passes(scenario.gamma, drafting));
  if (drafting == Drafting::free) return 0.0;
  return mean_gamma ? std::optional(mean_draft_passes(*mean_gamma, drafting)) : std::nullopt;
}

void add_best_gamma(const Scenario& scenario, const DecodingCost& cost, const DraftedAcceptance& drafted,
                    ClosedForm& answer) {
  // A looked-up cost is known only for this gamma.
  if (sequence_of(scenario) != nullptr || scenario::looked_up(scenario.cost) != nullptr) return;
  // If the cost depends on gamma, predict() searches.
  if (scenario::verify_growth(scenario.cost) > 0.0 || std::holds_alternative<HorizontalCascade>(scenario.drafter)) {
    return;
  }
  const auto best = best_gamma(drafted, cost, scenario.convention, scenario::drafting(scenario.drafter));
  if (!best) return;
  answer.best_gamma = best->gamma ? static_cast<double>(*best->gamma) : std::numeric_limits<double>::infinity();
  answer.best_speedup = best->speedup;
}

/// Adds the best draft length of the draft model without its inner drafter.
void add_best_without_stages(Scenario scenario, ClosedForm& answer) {
  scenario.drafter = AutoregressiveDrafter{};
  const DraftedAcceptance drafted{std::get<ProcessFidelity>(scenario.fidelity).acceptance};
  add_best_gamma(scenario, scenario::decoding_cost(scenario).value(), drafted, answer);
}

/// Adds upper bounds of stopping policies if each token has its own acceptance probability; none if there are costs per
/// sequence.
void add_bounds(const Scenario& scenario, const DecodingCost& cost, ClosedForm& answer) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  const auto concentration = process == nullptr ? std::nullopt : scenario::token_concentration(process->policy);
  if (!concentration || scenario::drafting(scenario.drafter) != Drafting::autoregressive) return;
  if (cost.sequence != 0.0 || cost.plain_sequence != 0.0) return;
  const double alpha = std::get<Iid>(process->acceptance).alpha;
  const VaryingYield optimum =
      optimal_token_stopping(alpha, *concentration, scenario.gamma, draft_ratio(cost), scenario.convention).yield;
  answer.optimal_speedup = speedup(optimum.tokens, optimum.mean_gamma, cost);
  answer.oracle_speedup = oracle_speedup(alpha, cost, scenario.convention);
}

}  // namespace

ClosedForm answer(const Scenario& scenario, double pool_acceptance, StopToken stop) {
  if (const auto* server = std::get_if<Server>(&scenario.fidelity)) return server_answer(*server, scenario, stop);
  ClosedForm answer;
  const IterationDistribution iteration = iteration_distribution(scenario, pool_acceptance, stop);
  const std::optional<DecodingCost> cost = scenario::decoding_cost(scenario);
  if (cost && iteration.drafted) add_best_gamma(scenario, *cost, *iteration.drafted, answer);
  if (cost && std::holds_alternative<StagedDrafter>(scenario.drafter)) add_best_without_stages(scenario, answer);
  if (cost) add_bounds(scenario, *cost, answer);
  const SequenceLength* length = sequence_of(scenario);
  if (length == nullptr ? !iteration.mean : !iteration.iterations) return answer;
  const double tokens = length == nullptr ? *iteration.mean : length->tokens / *iteration.iterations;
  const bool varies = scenario::gamma_varies(scenario);
  const std::optional<double> gamma = varies ? iteration.mean_gamma : static_cast<double>(scenario.gamma);
  const std::optional<double> passes = draft_passes_of(scenario, iteration.mean_gamma);
  answer.tokens_per_iteration = tokens;
  answer.memory_access_factor = memory_access_factor(tokens);
  if (cost && passes) {
    answer.speedup = length == nullptr ? speedup(tokens, *passes, *cost)
                                       : sequence_speedup(length->tokens, length->tokens / tokens, *passes, *cost);
    answer.loss = 1.0 - answer.speedup / answer.optimal_speedup;
  }
  if (scenario.operations_ratio && gamma) {
    answer.operations_factor = operations_factor(tokens, *gamma, *scenario.operations_ratio, scenario.convention);
  }
  if (varies) answer.mean_gamma = iteration.mean_gamma.value_or(unknown<double>);
  if (length != nullptr) return answer;
  answer.tokens_variance = iteration.variance.value_or(unknown<double>);
  if (scenario.gamma > 0) answer.per_token = iteration.alpha.value_or(unknown<double>);
  // With a bonus token every iteration emits exactly one token that is not an accepted draft.
  const double drafted = iteration.mean_gamma.value_or(static_cast<double>(scenario.gamma));
  if (drafted > 0.0 && scenario.convention == Convention::bonus) {
    answer.accepted_over_drafted = (tokens - 1.0) / drafted;
  }
  return answer;
}

}  // namespace foredraft::analytic

namespace foredraft {
namespace {

/// Throws DomainError for a scenario that best_draft_length does not support.
void check_comparable(const Scenario& scenario) {
  const auto reject = [](std::string_view what) {
    throw DomainError(fmt::format("no best draft length for {}", what));
  };
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process == nullptr) return reject("a fidelity other than process");
  if (std::holds_alternative<Trace>(process->acceptance)) {
    return reject(fmt::format("acceptance {} (it has no closed form)", scenario::name_of(process->acceptance)));
  }
  if (scenario::gamma_varies(scenario)) return reject("drafts of varying length");
  if (process->sequence_length) return reject("finite sequences");
  if (scenario::looked_up(scenario.cost) != nullptr) return reject("a cost that was looked up for one gamma");
  if (!scenario::decoding_cost(scenario)) return reject("a scenario without a cost");
}

}  // namespace

ClosedForm predict(const Scenario& scenario) {
  scenario::check_scenario(scenario);
  scenario::check_read(scenario);
  return analytic::answer(scenario);
}

BestDraftLength best_draft_length(const Scenario& scenario) {
  scenario::check_scenario(scenario);
  check_comparable(scenario);
  const analytic::Prediction prediction = analytic::predict(scenario, std::nullopt);
  BestDraftLength best{.gamma = prediction.best.gamma,
                       .speedup = prediction.best.speedup.value_or(std::numeric_limits<double>::infinity())};
  if (prediction.near_best) {
    best.first_near_best = prediction.near_best->first;
    best.last_near_best = prediction.near_best->last;
  }
  return best;
}

}  // namespace foredraft
