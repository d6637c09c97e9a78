// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "analytic/answer/iteration_law.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/drafter_acceptance.hpp"
#include "analytic/tokens/iid_tokens.hpp"
#include "analytic/tokens/token_law.hpp"
#include "core/check.hpp"
#include "scenario/cost.hpp"
#include "scenario/registries.hpp"

namespace foredraft::analytic {
namespace {

constexpr double near_best_tolerance = 0.01;

/// A scenario in the words of the closed forms.
struct Question {
  double alpha = 0.0;  ///< i.i.d. acceptance; unused with `marginal`
  std::vector<double> marginal = {};
  bool endless = false;  ///< `marginal` leaves out a 1e-20 of drafts without end
  DecodingCost cost;
  std::optional<double> operations_ratio;
  Convention convention;
  Drafting drafting;
  std::optional<std::int64_t> gamma;
};

/// The drafter's own acceptance in place of the process, where it has one.
Question question_of(const Scenario& scenario, std::optional<std::int64_t> gamma) {
  Question question{.cost = scenario::decoding_cost(scenario).value(),
                    .operations_ratio = scenario.operations_ratio,
                    .convention = scenario.convention,
                    .drafting = scenario::drafting(scenario.drafter),
                    .gamma = gamma};
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  if (const auto* heads = std::get_if<Heads>(&scenario.drafter); heads != nullptr && !heads->accuracies.empty()) {
    question.marginal = marginal_from_conditional(heads->accuracies);
  } else if (const auto* positional = std::get_if<Positional>(&acceptance)) {
    question.marginal = marginal_of(*positional);
  } else {
    question.alpha = std::get<Iid>(acceptance).alpha;
    const double decay = acceptance_decay(scenario.drafter);
    if (decay != 1.0) {
      const std::int64_t drafts = std::max(gamma.value_or(0), last_useful_draft(question.alpha, decay));
      question.marginal = marginal_from_conditional(decaying_acceptance(question.alpha, decay, drafts));
      question.endless = true;
    }
  }
  return question;
}

bool by_position(const Question& question) { return !question.marginal.empty(); }

IidSetting setting_of(const Question& question) {
  return {question.alpha, draft_ratio(question.cost), question.convention, question.drafting};
}

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

AtGamma at_gamma(const Question& question, std::int64_t gamma) {
  AtGamma at{.gamma = gamma};
  if (by_position(question)) {
    check_range("gamma", gamma, min_gamma(question.convention), static_cast<std::int64_t>(question.marginal.size()));
    at.tokens = tokens_per_iteration(question.marginal, gamma, question.convention);
    at.variance = tokens_variance(question.marginal, gamma, question.convention);
    at.all_accepted = gamma == 0 ? 1.0 : question.marginal[static_cast<std::size_t>(gamma) - 1];
  } else {
    const IidIteration iteration{question.alpha, gamma, question.convention};
    at.tokens = tokens_per_iteration(iteration);
    at.variance = tokens_variance(iteration);
    at.all_accepted = all_accepted_probability(iteration);
  }
  at.speedup = speedup(*at.tokens, static_cast<double>(draft_passes(gamma, question.drafting)), question.cost);
  at.memory = memory_access_factor(*at.tokens);
  if (question.operations_ratio) {
    at.operations = operations_factor(*at.tokens, gamma, *question.operations_ratio, question.convention);
  }
  return at;
}

/// Limits for gamma to infinity under i.i.d. acceptance: X is geometric. [Leviathan2023, Sec. 3.1]
AtGamma at_infinity(const Question& question, double speedup) {
  const double rejection = 1.0 - question.alpha;
  AtGamma at{.gamma = std::nullopt,
             .tokens = finite(1.0 / rejection),
             .variance = finite(question.alpha / (rejection * rejection)),
             .all_accepted = question.alpha == 1.0 ? 1.0 : 0.0,
             .speedup = finite(speedup),
             .operations = std::nullopt,
             .memory = rejection};
  // Operations grow with gamma unless every draft is accepted; then each token costs one draft and one verification.
  if (question.operations_ratio && question.alpha == 1.0) at.operations = 1.0 + *question.operations_ratio;
  return at;
}

/// Limits for gamma to infinity where acceptance falls with the position and drafting costs no more for it.
AtGamma at_end_of_positions(const Question& question, double speedup) {
  AtGamma at = at_gamma(question, static_cast<std::int64_t>(question.marginal.size()));
  at.gamma = std::nullopt;
  at.all_accepted = 0.0;
  at.speedup = speedup;
  at.operations = std::nullopt;  // they grow with gamma
  return at;
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

/// Smallest alpha that pays: where the tokens come to iteration + passes * draft_pass target steps.
std::optional<double> break_even_alpha(const Question& question, std::int64_t gamma) {
  const auto passes = static_cast<double>(draft_passes(gamma, question.drafting));
  const double above_one_step = question.cost.iteration - 1.0;
  if (passes == 0.0 && above_one_step != 0.0) return std::nullopt;
  // The same total as of verifications at one step each with dearer drafts.
  const double c = passes == 0.0 ? 0.0 : question.cost.draft_pass + above_one_step / passes;
  return analytic::break_even_alpha(gamma, std::max(c, 0.0), question.convention, question.drafting);
}

/// Largest draft pass in target steps that pays; nothing where none does, or any does.
std::optional<double> break_even_c(const Question& question, const AtGamma& at) {
  const double tokens_of_a_step = *at.tokens / question.cost.iteration;
  if (tokens_of_a_step <= 1.0) return std::nullopt;
  const double c = question.cost.iteration * analytic::break_even_c(tokens_of_a_step, *at.gamma, question.drafting);
  return finite(c);
}

}  // namespace

std::vector<double> marginal_of(const Positional& acceptance) {
  return acceptance.marginal.empty() ? marginal_from_conditional(acceptance.conditional) : acceptance.marginal;
}

Prediction predict(const Scenario& scenario, std::optional<std::int64_t> gamma) {
  const Question question = question_of(scenario, gamma);
  Prediction prediction{.marginal = question.marginal, .asked = {}, .best = {}};
  BestGamma best = by_position(question) ? best_gamma(question.marginal, draft_ratio(question.cost),
                                                      question.convention, question.drafting)
                                         : best_gamma(setting_of(question));
  best.speedup /= question.cost.iteration;
  // What costs nothing more gains for ever, though ever less.
  if (question.endless && question.drafting != Drafting::autoregressive &&
      *best.gamma > min_gamma(question.convention)) {
    best.gamma.reset();
  }
  if (best.gamma) {
    prediction.best = at_gamma(question, *best.gamma);
  } else {
    prediction.best =
        by_position(question) ? at_end_of_positions(question, best.speedup) : at_infinity(question, best.speedup);
  }
  prediction.asked = question.gamma ? at_gamma(question, *question.gamma) : prediction.best;
  const AtGamma& asked = prediction.asked;
  if (asked.gamma && *asked.gamma >= 1) {
    prediction.break_even_c = break_even_c(question, asked);
  }
  if (by_position(question)) {
    if (prediction.best.gamma) prediction.near_best = near_best_by_position(question, prediction.best);
    return prediction;
  }
  prediction.real_gamma = real_gamma(setting_of(question));
  if (question.convention == Convention::bonus && question.drafting == Drafting::autoregressive) {
    prediction.oracle_speedup =
        finite(oracle_speedup(question.alpha, draft_ratio(question.cost)) / question.cost.iteration);
  }
  prediction.near_best = near_best_gamma(setting_of(question), near_best_tolerance);
  if (asked.gamma && *asked.gamma >= 1) {
    prediction.break_even_alpha = break_even_alpha(question, *asked.gamma);
    prediction.any_process = any_process_bounds(question.alpha, *asked.gamma, question.convention);
  }
  return prediction;
}

}  // namespace foredraft::analytic
