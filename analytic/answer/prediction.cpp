// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/processes.hpp"

namespace foredraft::analytic {
namespace {

constexpr double near_best_tolerance = 0.01;

/// Maximum draft length of a search that no vector bounds; if the speedup still rises there it rises without end.
std::int64_t longest_search(const Scenario& scenario) {
  constexpr std::int64_t longest = std::int64_t{1} << 40U;
  return std::holds_alternative<Runs>(std::get<ProcessFidelity>(scenario.fidelity).acceptance) ? max_runs_gamma
                                                                                               : longest;
}

/// The arguments of the closed forms that follow from a scenario.
struct Question {
  Scenario scenario;
  const Iid* iid = nullptr;           ///< null if the acceptance is not i.i.d., or the drafter has its own
  std::vector<double> marginal = {};  ///< acceptance by position
  bool endless = false;               ///< `marginal` was cut where 1e-20 of the drafts remain
  DecodingCost cost;                  ///< of an iteration that verifies one token
  double growth;                      ///< added for every further one
  std::optional<double> operations_ratio;
  Convention convention;
  Drafting drafting;
  std::optional<std::int64_t> gamma;
};

/// Uses the drafter's own acceptance instead of the process if it has one.
Question question_of(const Scenario& scenario, std::optional<std::int64_t> gamma) {
  Scenario of_one_token = scenario;
  of_one_token.gamma = min_gamma(scenario.convention);
  Question question{.scenario = scenario,
                    .cost = scenario::decoding_cost(of_one_token).value(),
                    .growth = scenario::verify_growth(scenario.cost),
                    .operations_ratio = scenario.operations_ratio,
                    .convention = scenario.convention,
                    .drafting = scenario::drafting(scenario.drafter),
                    .gamma = gamma};
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  if (const auto* heads = std::get_if<Heads>(&scenario.drafter); heads != nullptr && !heads->accuracies.empty()) {
    question.marginal = marginal_from_conditional(heads->accuracies);
  } else if (const auto* positional = std::get_if<Positional>(&acceptance)) {
    question.marginal = marginal_of(*positional);
  } else if (const auto* iid = std::get_if<Iid>(&acceptance)) {
    const double decay = acceptance_decay(scenario.drafter);
    if (decay == 1.0) {
      question.iid = iid;
    } else {
      const std::int64_t drafts = std::max(gamma.value_or(0), last_useful_draft(iid->alpha, decay));
      question.marginal = marginal_from_conditional(decaying_acceptance(iid->alpha, decay, drafts));
      question.endless = true;
    }
  }
  return question;
}

bool by_position(const Question& question) { return !question.marginal.empty(); }

IidSetting setting_of(const Question& question) {
  return {question.iid->alpha, draft_ratio(question.cost), question.convention, question.drafting};
}

/// Closed forms for an iteration of `gamma` drafts.
DecodingCost cost_at(const Question& question, std::int64_t gamma) {
  DecodingCost cost = question.cost;
  cost.iteration += question.growth * static_cast<double>(max_tokens(gamma, question.convention) - 1);
  return cost;
}

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

/// Closed forms of processes that are neither i.i.d. nor by position.
void add_distribution(const Question& question, std::int64_t gamma, AtGamma& at) {
  Scenario scenario = question.scenario;
  scenario.gamma = gamma;
  const IterationDistribution distribution = iteration_distribution(scenario, unknown<double>);
  if (!distribution.mean) {
    throw DomainError(fmt::format("no closed form for acceptance {}",
                                  scenario::name_of(std::get<ProcessFidelity>(scenario.fidelity).acceptance)));
  }
  at.tokens = distribution.mean;
  at.variance = distribution.variance;
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  if (const auto* beta = std::get_if<BetaMixture>(&acceptance)) {
    if (gamma > 0) at.all_accepted = accepted_at_least(*beta, gamma);
  } else if (const auto* runs = std::get_if<Runs>(&acceptance); runs != nullptr && gamma > 0) {
    at.all_accepted = accepted_shares(*runs, gamma).back();
  }
}

AtGamma at_gamma(const Question& question, std::int64_t gamma) {
  AtGamma at{.gamma = gamma};
  if (by_position(question)) {
    check_range("gamma", gamma, min_gamma(question.convention), static_cast<std::int64_t>(question.marginal.size()));
    at.tokens = tokens_per_iteration(question.marginal, gamma, question.convention);
    at.variance = tokens_variance(question.marginal, gamma, question.convention);
    if (gamma > 0) at.all_accepted = question.marginal[static_cast<std::size_t>(gamma) - 1];
  } else if (question.iid == nullptr) {
    add_distribution(question, gamma, at);
  } else {
    const IidIteration iteration{question.iid->alpha, gamma, question.convention};
    at.tokens = tokens_per_iteration(iteration);
    at.variance = tokens_variance(iteration);
    if (gamma > 0) at.all_accepted = all_accepted_probability(iteration);
  }
  at.speedup =
      speedup(*at.tokens, static_cast<double>(draft_passes(gamma, question.drafting)), cost_at(question, gamma));
  at.memory = memory_access_factor(*at.tokens);
  if (question.operations_ratio) {
    at.operations = operations_factor(*at.tokens, gamma, *question.operations_ratio, question.convention);
  }
  return at;
}

/// Limits for gamma to infinity under i.i.d. acceptance: X is geometric. [Leviathan2023, Sec. 3.1]
AtGamma at_infinity(const Question& question, double speedup) {
  const double alpha = question.iid->alpha;
  const double rejection = 1.0 - alpha;
  AtGamma at{.gamma = std::nullopt,
             .tokens = finite(1.0 / rejection),
             .variance = finite(alpha / (rejection * rejection)),
             .all_accepted = alpha == 1.0 ? 1.0 : 0.0,
             .speedup = finite(speedup),
             .operations = std::nullopt,
             .memory = rejection};
  // Operations are unbounded unless every draft is accepted; then each token costs one draft and one verification.
  if (question.operations_ratio && alpha == 1.0) at.operations = 1.0 + *question.operations_ratio;
  return at;
}

/// Whether one more draft costs nothing, so that the speedup rises as long as the tokens per iteration do.
bool longer_is_free(const Question& question) {
  return question.growth == 0.0 && (question.drafting != Drafting::autoregressive || question.cost.draft_pass == 0.0);
}

/// Whether drafts are always accepted in the long run, so that tokens grow in proportion to the drafts.
bool accepts_all(const Question& question) {
  const std::int64_t longest = longest_search(question.scenario);
  return *at_gamma(question, longest).tokens > 0.5 * static_cast<double>(longest);
}

/// Speedup as a function of gamma, from the first gamma at which time is linear.
OneMaximum one_maximum(const Question& question) {
  const bool jump = question.drafting == Drafting::block && question.convention == Convention::bonus;
  return {.speedup = [&question](std::int64_t gamma) { return *at_gamma(question, gamma).speedup; },
          .first = jump ? 1 : min_gamma(question.convention),
          .last = by_position(question) ? static_cast<std::int64_t>(question.marginal.size())
                                        : longest_search(question.scenario)};
}

/// The limit for ever longer drafts.
AtGamma at_end_of_search(const Question& question) {
  AtGamma at = at_gamma(question, longest_search(question.scenario));
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(question.scenario.fidelity).acceptance;
  // E[1 / (1 - alpha)] is infinite for b <= 1; for b > 1 the value at the end of the search is below it.
  if (const auto* beta = std::get_if<BetaMixture>(&acceptance); beta != nullptr && longer_is_free(question)) {
    const double tokens =
        beta->b > 1.0 ? (beta->a + beta->b - 1.0) / (beta->b - 1.0) : std::numeric_limits<double>::infinity();
    at.speedup = finite(*at.speedup * (tokens / *at.tokens));
    at.tokens = finite(tokens);
    at.variance.reset();
    at.memory = 1.0 / tokens;
  }
  if (accepts_all(question)) at.tokens.reset();
  at.gamma.reset();
  at.operations.reset();
  return at;
}

/// Best gamma by search: for any process, and for verifications whose time grows.
AtGamma searched_best(const Question& question) {
  const OneMaximum speedups = one_maximum(question);
  std::optional<std::int64_t> gamma;
  // If the third draft improves the speedup, every later one does, by ever less.
  const bool rises =
      speedups.last > speedups.first + 1 && speedups.speedup(speedups.first + 2) > speedups.speedup(speedups.first + 1);
  const bool endless = !by_position(question) && (longer_is_free(question) || accepts_all(question));
  if (!(endless && rises)) gamma = best_gamma(speedups);
  if (!gamma && by_position(question)) gamma = speedups.last;
  AtGamma best = gamma ? at_gamma(question, *gamma) : at_end_of_search(question);
  if (speedups.first > min_gamma(question.convention) && best.speedup) {
    AtGamma plain = at_gamma(question, 0);
    if (*plain.speedup >= *best.speedup) return plain;
  }
  return best;
}

std::optional<GammaRange> near_best_by_position(const Question& question, const AtGamma& best) {
  GammaRange range{*best.gamma, *best.gamma};
  const auto pays = [&](std::int64_t gamma) {
    return *at_gamma(question, gamma).speedup >= (1.0 - near_best_tolerance) * *best.speedup;
  };
  while (range.first > min_gamma(question.convention) && pays(range.first - 1)) --range.first;
  while (range.last < static_cast<std::int64_t>(question.marginal.size()) && pays(range.last + 1)) ++range.last;
  return range;
}

/// Break-even alpha: tokens per iteration = iteration + passes * draft_pass decode steps.
std::optional<double> break_even_alpha(const Question& question, std::int64_t gamma) {
  const auto passes = static_cast<double>(draft_passes(gamma, question.drafting));
  const double above_one_step = cost_at(question, gamma).iteration - 1.0;
  if (passes == 0.0 && above_one_step != 0.0) return std::nullopt;
  // The same total cost with verifications of one step each and more expensive drafts.
  const double c = passes == 0.0 ? 0.0 : question.cost.draft_pass + above_one_step / passes;
  return analytic::break_even_alpha(gamma, std::max(c, 0.0), question.convention, question.drafting);
}

/// Break-even draft pass in target decode steps; nullopt if none pays, or any does.
std::optional<double> break_even_c(const Question& question, const AtGamma& at) {
  const double iteration = cost_at(question, *at.gamma).iteration;
  const double tokens_of_a_step = *at.tokens / iteration;
  if (tokens_of_a_step <= 1.0) return std::nullopt;
  const double c = iteration * analytic::break_even_c(tokens_of_a_step, *at.gamma, question.drafting);
  return finite(c);
}

/// Best gamma by the closed rules, for a verification whose cost does not depend on gamma.
AtGamma ruled_best(const Question& question) {
  BestGamma best = by_position(question) ? best_gamma(question.marginal, draft_ratio(question.cost),
                                                      question.convention, question.drafting)
                                         : best_gamma(setting_of(question));
  best.speedup /= question.cost.iteration;
  // If another draft costs nothing, the speedup rises without end.
  if (question.endless && question.drafting != Drafting::autoregressive &&
      *best.gamma > min_gamma(question.convention)) {
    best.gamma.reset();
  }
  if (best.gamma) return at_gamma(question, *best.gamma);
  if (!by_position(question)) return at_infinity(question, best.speedup);
  // Acceptance falls with the position and longer drafts cost nothing more.
  AtGamma limit = at_gamma(question, static_cast<std::int64_t>(question.marginal.size()));
  limit.gamma.reset();
  limit.all_accepted = 0.0;
  limit.speedup = best.speedup;
  limit.operations.reset();  // they grow with gamma
  return limit;
}

}  // namespace

std::vector<double> marginal_of(const Positional& acceptance) {
  return acceptance.marginal.empty() ? marginal_from_conditional(acceptance.conditional) : acceptance.marginal;
}

Prediction predict(const Scenario& scenario, std::optional<std::int64_t> gamma) {
  const Question question = question_of(scenario, gamma);
  const bool ruled = question.growth == 0.0 && (question.iid != nullptr || by_position(question));
  Prediction prediction{
      .marginal = question.marginal, .asked = {}, .best = ruled ? ruled_best(question) : searched_best(question)};
  prediction.asked = question.gamma ? at_gamma(question, *question.gamma) : prediction.best;
  const AtGamma& asked = prediction.asked;
  if (asked.gamma && *asked.gamma >= 1) {
    prediction.break_even_c = break_even_c(question, asked);
  }
  if (!ruled && prediction.best.gamma) {
    const OneMaximum speedups = one_maximum(question);
    prediction.near_best = *prediction.best.gamma < speedups.first
                               ? GammaRange{*prediction.best.gamma, *prediction.best.gamma}
                               : near_best_gamma(speedups, *prediction.best.gamma, near_best_tolerance);
  }
  if (ruled && by_position(question) && prediction.best.gamma) {
    prediction.near_best = near_best_by_position(question, prediction.best);
  }
  if (question.iid == nullptr) return prediction;
  if (asked.gamma && *asked.gamma >= 1) {
    prediction.break_even_alpha = break_even_alpha(question, *asked.gamma);
    prediction.any_process = any_process_bounds(question.iid->alpha, *asked.gamma, question.convention);
  }
  if (!ruled) return prediction;
  prediction.real_gamma = real_gamma(setting_of(question));
  if (question.convention == Convention::bonus && question.drafting == Drafting::autoregressive) {
    prediction.oracle_speedup = finite(oracle_speedup(question.iid->alpha, question.cost));
  }
  prediction.near_best = near_best_gamma(setting_of(question), near_best_tolerance);
  return prediction;
}

}  // namespace foredraft::analytic
