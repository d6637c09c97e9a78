// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/numerics/stable_forms.hpp"
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

/// A scenario at every constant draft length.
struct DraftLengths {
  const Scenario& scenario;
  DraftedAcceptance drafted;
  Drafting drafting;

  [[nodiscard]] const Iid* iid() const { return std::get_if<Iid>(&drafted.process); }
  /// Null unless acceptance depends only on the position.
  [[nodiscard]] const Positional* positional() const { return std::get_if<Positional>(&drafted.process); }
  [[nodiscard]] DecodingCost cost(std::int64_t gamma) const { return scenario::decoding_cost(scenario, gamma).value(); }
  /// Cost of an iteration with the minimum gamma.
  [[nodiscard]] DecodingCost shortest_cost() const { return cost(min_gamma(scenario.convention)); }
  [[nodiscard]] bool cost_grows() const { return scenario::verify_growth(scenario.cost) > 0.0; }
  /// Null unless each draft has its own cost.
  [[nodiscard]] const HorizontalCascade* cascade() const { return std::get_if<HorizontalCascade>(&scenario.drafter); }
};

/// Maximum draft length of a search. If no vector limits it and the speedup still increases there, it always increases.
std::int64_t longest_draft(const DraftLengths& lengths) {
  constexpr std::int64_t longest = std::int64_t{1} << 40U;
  if (const Positional* positional = lengths.positional()) {
    const std::int64_t entries = std::ssize(positional->marginal);
    return lengths.cascade() == nullptr ? entries
                                        : std::min<std::int64_t>(entries, std::ssize(lengths.cascade()->costs));
  }
  if (lengths.cascade() != nullptr) return std::ssize(lengths.cascade()->costs);
  return std::holds_alternative<Runs>(lengths.drafted.process) ? max_runs_gamma : longest;
}

IidSetting setting_of(const DraftLengths& lengths) {
  return {lengths.iid()->alpha, draft_ratio(lengths.shortest_cost()), lengths.scenario.convention, lengths.drafting};
}

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

/// P(all gamma >= 1 drafts are accepted); nullopt if unknown.
std::optional<double> all_accepted(const AcceptanceProcess& drafted, std::int64_t gamma, Convention convention) {
  if (const auto* iid = std::get_if<Iid>(&drafted)) return all_accepted_probability({iid->alpha, gamma, convention});
  if (const auto* positional = std::get_if<Positional>(&drafted)) {
    return positional->marginal[static_cast<std::size_t>(gamma) - 1];
  }
  if (const auto* beta = std::get_if<BetaMixture>(&drafted)) return accepted_at_least(*beta, gamma);
  if (const auto* runs = std::get_if<Runs>(&drafted)) return accepted_shares(*runs, gamma).back();
  return std::nullopt;
}

AtGamma at_gamma(const DraftLengths& lengths, std::int64_t gamma) {
  const Scenario& scenario = lengths.scenario;
  const AcceptanceProcess& drafted = lengths.drafted.process;
  const bool listed = lengths.positional() != nullptr || lengths.cascade() != nullptr;
  check_range("gamma", gamma, min_gamma(scenario.convention), listed ? longest_draft(lengths) : largest_gamma);
  const IterationDistribution iteration = constant_length(drafted, gamma, scenario.convention);
  if (!iteration.mean) {
    throw DomainError(fmt::format("no closed form for acceptance {}", scenario::name_of(drafted)));
  }
  const double tokens = *iteration.mean;
  AtGamma at{
      .gamma = gamma,
      .tokens = tokens,
      .variance = iteration.variance,
      .speedup = speedup(tokens, static_cast<double>(draft_passes(gamma, lengths.drafting)), lengths.cost(gamma)),
      .memory = memory_access_factor(tokens)};
  if (gamma > 0) at.all_accepted = all_accepted(drafted, gamma, scenario.convention);
  if (scenario.operations_ratio) {
    at.operations =
        operations_factor(tokens, static_cast<double>(gamma), *scenario.operations_ratio, scenario.convention);
  }
  return at;
}

/// Limits for gamma to infinity under i.i.d. acceptance: X is geometric. [Leviathan2023, Sec. 3.1]
AtGamma at_infinity(const DraftLengths& lengths, double speedup) {
  const double alpha = lengths.iid()->alpha;
  const double rejection = 1.0 - alpha;
  AtGamma at{.gamma = std::nullopt,
             .tokens = finite(1.0 / rejection),
             .variance = finite(alpha / (rejection * rejection)),
             .all_accepted = alpha == 1.0 ? 1.0 : 0.0,
             .speedup = finite(speedup),
             .operations = std::nullopt,
             .memory = rejection};
  // Operations are unbounded unless every draft is accepted; then each token costs one draft and one verification.
  if (lengths.scenario.operations_ratio && alpha == 1.0) at.operations = 1.0 + *lengths.scenario.operations_ratio;
  return at;
}

/// True if one more draft costs nothing, so that the speedup increases with the tokens per iteration.
bool longer_is_free(const DraftLengths& lengths) {
  return !lengths.cost_grows() &&
         (lengths.drafting != Drafting::autoregressive || lengths.shortest_cost().draft_pass == 0.0);
}

/// True if all drafts are accepted in the long run, so that tokens are proportional to the draft length.
bool accepts_all(const DraftLengths& lengths) {
  const std::int64_t longest = longest_draft(lengths);
  return *at_gamma(lengths, longest).tokens > 0.5 * static_cast<double>(longest);
}

/// Speedup as a function of gamma. It starts where time begins to be linear in gamma.
OneMaximum one_maximum(const DraftLengths& lengths) {
  const bool jump = lengths.drafting == Drafting::block && lengths.scenario.convention == Convention::bonus;
  return {.speedup = [&lengths](std::int64_t gamma) { return *at_gamma(lengths, gamma).speedup; },
          .first = jump ? 1 : min_gamma(lengths.scenario.convention),
          .last = longest_draft(lengths)};
}

/// The limit as gamma grows.
AtGamma at_end_of_search(const DraftLengths& lengths) {
  AtGamma at = at_gamma(lengths, longest_draft(lengths));
  // E[1 / (1 - alpha)] is infinite for b <= 1; for b > 1 the value at the end of the search is below it.
  if (const auto* beta = std::get_if<BetaMixture>(&lengths.drafted.process);
      beta != nullptr && longer_is_free(lengths)) {
    const double tokens =
        beta->b > 1.0 ? (beta->a + beta->b - 1.0) / (beta->b - 1.0) : std::numeric_limits<double>::infinity();
    at.speedup = finite(*at.speedup * (tokens / *at.tokens));
    at.tokens = finite(tokens);
    at.variance.reset();
    at.memory = 1.0 / tokens;
  }
  if (accepts_all(lengths)) at.tokens.reset();
  at.gamma.reset();
  at.operations.reset();
  return at;
}

/// Best gamma by trying all, for costs that are not monotonic.
AtGamma tried_best(const DraftLengths& lengths) {
  AtGamma best = at_gamma(lengths, min_gamma(lengths.scenario.convention));
  for (std::int64_t gamma = *best.gamma + 1; gamma <= longest_draft(lengths); ++gamma) {
    const AtGamma at = at_gamma(lengths, gamma);
    if (*at.speedup > *best.speedup) best = at;
  }
  return best;
}

/// Best gamma by search, for any process and for verification times that grow with gamma.
AtGamma searched_best(const DraftLengths& lengths) {
  if (lengths.cascade() != nullptr) return tried_best(lengths);
  const OneMaximum speedups = one_maximum(lengths);
  std::optional<std::int64_t> gamma;
  // If the draft after gamma = first + 1 improves the speedup, every later one does, by decreasing amounts.
  const bool rises =
      speedups.last > speedups.first + 1 && speedups.speedup(speedups.first + 2) > speedups.speedup(speedups.first + 1);
  const bool endless = lengths.positional() == nullptr && (longer_is_free(lengths) || accepts_all(lengths));
  if (!(endless && rises)) gamma = best_gamma(speedups);
  if (!gamma && lengths.positional() != nullptr) gamma = speedups.last;
  AtGamma best = gamma ? at_gamma(lengths, *gamma) : at_end_of_search(lengths);
  if (speedups.first > min_gamma(lengths.scenario.convention) && best.speedup) {
    AtGamma plain = at_gamma(lengths, 0);
    if (*plain.speedup >= *best.speedup) return plain;
  }
  return best;
}

std::optional<NearBestRange> near_best_by_position(const DraftLengths& lengths, const AtGamma& best) {
  NearBestRange range{*best.gamma, *best.gamma};
  const auto pays = [&](std::int64_t gamma) {
    return *at_gamma(lengths, gamma).speedup >= (1.0 - near_best_tolerance) * *best.speedup;
  };
  while (range.first > min_gamma(lengths.scenario.convention) && pays(range.first - 1)) --range.first;
  while (range.last < longest_draft(lengths) && pays(range.last + 1)) ++range.last;
  return range;
}

/// Break-even alpha: tokens per iteration = iteration + passes * draft_pass decode steps.
std::optional<double> break_even_alpha(const DraftLengths& lengths, std::int64_t gamma) {
  const auto passes = static_cast<double>(draft_passes(gamma, lengths.drafting));
  const double above_one_step = lengths.cost(gamma).iteration - 1.0;
  if (passes == 0.0 && above_one_step != 0.0) return std::nullopt;
  // The same total cost with verifications of one step each and more expensive drafts.
  const double c = passes == 0.0 ? 0.0 : lengths.cost(gamma).draft_pass + above_one_step / passes;
  return analytic::break_even_alpha(gamma, std::max(c, 0.0), lengths.scenario.convention, lengths.drafting);
}

/// Break-even time of a draft pass in decode steps; nullopt if no time or every time breaks even.
std::optional<double> break_even_c(const DraftLengths& lengths, const AtGamma& at) {
  const double iteration = lengths.cost(*at.gamma).iteration;
  const double tokens_of_a_step = *at.tokens / iteration;
  if (tokens_of_a_step <= 1.0) return std::nullopt;
  const double pass = iteration * analytic::break_even_c(tokens_of_a_step, *at.gamma, lengths.drafting);
  return finite(pass / scenario::pass_weight(lengths.scenario.drafter, *at.gamma));
}

/// Best gamma by closed-form rules; nullopt if none applies.
std::optional<AtGamma> ruled_best(const DraftLengths& lengths) {
  if (lengths.cost_grows() || lengths.cascade() != nullptr) return std::nullopt;
  const std::optional<BestGamma> best =
      best_gamma(lengths.drafted, lengths.shortest_cost(), lengths.scenario.convention, lengths.drafting);
  if (!best) return std::nullopt;
  if (best->gamma) return at_gamma(lengths, *best->gamma);
  if (lengths.positional() == nullptr) return at_infinity(lengths, best->speedup);
  // Acceptance decreases with the position, and longer drafts cost nothing.
  AtGamma limit = at_gamma(lengths, longest_draft(lengths));
  limit.gamma.reset();
  limit.all_accepted = 0.0;
  limit.speedup = best->speedup;
  limit.operations.reset();  // they grow with gamma
  return limit;
}

std::optional<NearBestRange> near_best(const DraftLengths& lengths, const AtGamma& best, bool ruled) {
  if (ruled && lengths.iid() != nullptr) return near_best_gamma(setting_of(lengths), near_best_tolerance);
  if (!best.gamma) return std::nullopt;
  if (ruled || lengths.cascade() != nullptr) return near_best_by_position(lengths, best);
  const OneMaximum speedups = one_maximum(lengths);
  if (*best.gamma < speedups.first) return NearBestRange{*best.gamma, *best.gamma};
  return near_best_gamma(speedups, *best.gamma, near_best_tolerance);
}

}  // namespace

Prediction predict(const Scenario& scenario, std::optional<std::int64_t> gamma) {
  const DraftLengths lengths{.scenario = scenario,
                             .drafted = drafted_acceptance(std::get<ProcessFidelity>(scenario.fidelity).acceptance,
                                                           scenario.drafter, gamma.value_or(0)),
                             .drafting = scenario::drafting(scenario.drafter)};
  const std::optional<AtGamma> ruled = ruled_best(lengths);
  Prediction prediction{
      .marginal = lengths.positional() == nullptr || std::holds_alternative<IndependentDrafts>(scenario.drafter)
                      ? std::vector<double>{}
                      : lengths.positional()->marginal,
      .asked = {},
      .best = ruled ? *ruled : searched_best(lengths)};
  prediction.asked = gamma ? at_gamma(lengths, *gamma) : prediction.best;
  prediction.near_best = near_best(lengths, prediction.best, ruled.has_value());
  const AtGamma& asked = prediction.asked;
  const bool drafts = asked.gamma && *asked.gamma >= 1;
  if (drafts) prediction.break_even_c = break_even_c(lengths, asked);
  const Iid* iid = lengths.iid();
  if (iid == nullptr) return prediction;
  if (drafts) {
    prediction.break_even_alpha = break_even_alpha(lengths, *asked.gamma);
    prediction.any_process = any_process_bounds(iid->alpha, *asked.gamma, scenario.convention);
  }
  if (!ruled) return prediction;
  prediction.real_gamma = real_gamma(setting_of(lengths));
  if (scenario.convention == Convention::bonus && lengths.drafting == Drafting::autoregressive) {
    prediction.oracle_speedup = finite(oracle_speedup(iid->alpha, lengths.shortest_cost()));
  }
  return prediction;
}

}  // namespace foredraft::analytic
