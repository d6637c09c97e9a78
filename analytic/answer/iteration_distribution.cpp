// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/iteration_distribution.hpp"

#include <algorithm>
#include <cmath>

#include "analytic/draft_length/draft_length_rules.hpp"
#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"

namespace foredraft::analytic {
namespace {

std::vector<double> pmf_of(const BetaMixture& mixture, std::int64_t maximum, StopToken stop) {
  std::vector<double> pmf;
  StopMeter meter(stop);
  constexpr std::int64_t work = 10'000;  // cost of a tail evaluation: a product of thousands of factors
  for (std::int64_t k = 1; k <= maximum; ++k) {
    meter.spend(work);
    pmf.push_back(accepted_at_least(mixture, k - 1) - (k < maximum ? accepted_at_least(mixture, k) : 0.0));
  }
  return pmf;
}

/// Acceptance of the drafter's drafts: by position if the drafter has a decay or accuracies, else that of the process.
AcceptanceProcess drafted_acceptance(const ProcessFidelity& process, const Scenario& scenario) {
  if (const auto* heads = std::get_if<Heads>(&scenario.drafter); heads != nullptr && !heads->accuracies.empty()) {
    return Positional{heads->accuracies};
  }
  const double decay = acceptance_decay(scenario.drafter);
  const auto* iid = std::get_if<Iid>(&process.acceptance);
  if (decay == 1.0 || iid == nullptr) return process.acceptance;
  // A Positional needs at least one entry, even if nothing is drafted.
  return Positional{decaying_acceptance(iid->alpha, decay, std::max<std::int64_t>(scenario.gamma, 1))};
}

IterationDistribution varying(const VaryingYield& yield, std::optional<double> alpha = std::nullopt) {
  return {.mean = yield.tokens, .alpha = alpha, .mean_gamma = yield.mean_gamma};
}

/// Closed forms for a constant gamma, one overload per acceptance process.
struct ConstantLength {
  const Scenario& scenario;
  bool finite;
  StopToken stop;

  IterationDistribution operator()(const Iid& iid) const {
    const IidIteration iteration{iid.alpha, scenario.gamma, scenario.convention};
    return {.mean = tokens_per_iteration(iteration),
            .variance = tokens_variance(iteration),
            .alpha = iid.alpha,
            .pmf = finite ? tokens_pmf(iteration) : std::vector<double>{}};
  }

  IterationDistribution operator()(const Positional& positional) const {
    return of_marginal(marginal_from_conditional(positional.conditional), scenario.gamma);
  }

  [[nodiscard]] IterationDistribution of_marginal(const std::vector<double>& marginal, std::int64_t gamma) const {
    return {.mean = tokens_per_iteration(marginal, gamma, scenario.convention),
            .variance = tokens_variance(marginal, gamma, scenario.convention),
            .pmf = finite ? tokens_pmf(marginal, gamma, scenario.convention) : std::vector<double>{}};
  }

  IterationDistribution operator()(const BetaMixture& mixture) const {
    return {
        .mean = tokens_per_iteration(mixture, scenario.gamma, scenario.convention),
        .variance = tokens_variance(mixture, scenario.gamma, scenario.convention),
        .pmf = finite ? pmf_of(mixture, max_tokens(scenario.gamma, scenario.convention), stop) : std::vector<double>{}};
  }

  IterationDistribution operator()(const Markov& chain) const {
    return {.mean = tokens_per_iteration(chain, scenario.gamma, scenario.convention)};
  }

  IterationDistribution operator()(const Runs& runs) const {
    return {.mean = tokens_per_iteration(runs, scenario.gamma)};
  }

  /// A trace, and processes without a known closed form.
  template <class Process>
  IterationDistribution operator()(const Process& /*process*/) const {
    return {};
  }
};

IterationDistribution copy_distribution(const InputCopy& copy, const ProcessFidelity& process,
                                        const Scenario& scenario) {
  if (!process.sequence_length) {
    return varying(input_copy(copy, scenario.gamma, scenario.convention), 1.0 - copy.edit_rate);
  }
  const auto [length, geometric] = *process.sequence_length;
  return {.finite_tokens =
              length / (geometric ? input_copy_iterations_geometric(copy, scenario.gamma, scenario.convention, length)
                                  : input_copy_iterations(copy, scenario.gamma, scenario.convention,
                                                          static_cast<std::int64_t>(length)))};
}

/// Conditional acceptance of each draft up to gamma, for processes of independent iterations; empty for others.
std::vector<double> conditional_of(const AcceptanceProcess& acceptance, std::int64_t gamma) {
  if (const auto* positional = std::get_if<Positional>(&acceptance)) {
    return {positional->conditional.begin(), positional->conditional.begin() + static_cast<std::ptrdiff_t>(gamma)};
  }
  if (const auto* iid = std::get_if<Iid>(&acceptance)) return decaying_acceptance(iid->alpha, 1.0, gamma);
  return {};
}

/// Closed forms for each policy.
struct UnderPolicy {
  ConstantLength constant;
  const AcceptanceProcess& acceptance;

  IterationDistribution operator()(const ConstantGamma& /*policy*/) const { return std::visit(constant, acceptance); }

  IterationDistribution operator()(const Plus2Minus1& /*policy*/) const {
    const auto marginal = marginal_of(acceptance, constant.scenario.gamma);
    if (!marginal || constant.finite) return {.alpha = alpha()};
    return varying(plus2_minus1(*marginal, constant.scenario.convention), alpha());
  }

  IterationDistribution operator()(const foredraft::ConfidenceThreshold& policy) const {
    const std::int64_t gamma = constant.scenario.gamma;
    const Convention convention = constant.scenario.convention;
    const ConfidenceThreshold threshold{.alpha = alpha().value(),
                                        .concentration = policy.concentration,
                                        .threshold = policy.threshold,
                                        .bias = policy.bias,
                                        .gamma = gamma};
    const VaryingYield yield = confidence_threshold(threshold, convention);
    IterationDistribution distribution = constant.of_marginal(reached(threshold, convention), gamma);
    distribution.mean = yield.tokens;
    distribution.mean_gamma = yield.mean_gamma;
    distribution.alpha = alpha();
    return distribution;
  }

  /// Policies without a known closed form.
  template <class Unknown>
  IterationDistribution operator()(const Unknown& /*policy*/) const {
    return {.alpha = alpha()};
  }

  IterationDistribution operator()(const OptimalStopping& /*policy*/) const {
    const Scenario& scenario = constant.scenario;
    const double c = draft_ratio(scenario::decoding_cost(scenario).value());
    if (const auto* beta = std::get_if<BetaMixture>(&acceptance)) {
      if (constant.finite) return {};
      return varying(optimal_stopping(*beta, scenario.gamma, c, scenario.convention));
    }
    const std::vector<double> conditional = conditional_of(acceptance, scenario.gamma);
    const std::vector<DraftScenario> always{{1.0, conditional}};
    const std::int64_t gamma = optimal_stopping(always, c, scenario.convention).gamma.front();
    IterationDistribution distribution = constant.of_marginal(marginal_from_conditional(conditional), gamma);
    distribution.mean_gamma = static_cast<double>(gamma);
    distribution.alpha = alpha();
    return distribution;
  }

  [[nodiscard]] std::optional<double> alpha() const {
    const auto* iid = std::get_if<Iid>(&acceptance);
    return iid == nullptr ? std::nullopt : std::optional(iid->alpha);
  }
};

/// The best gamma if the acceptance falls by a constant factor from each position to the next.
BestGamma decaying_best_gamma(double alpha, double decay, double c, const Scenario& scenario) {
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const std::vector<double> marginal =
      marginal_from_conditional(decaying_acceptance(alpha, decay, last_useful_draft(alpha, decay)));
  BestGamma best = best_gamma(marginal, c, scenario.convention, drafting);
  // If another draft costs nothing, the speedup rises without end: the vector holds all of it but 1e-20.
  if (drafting != Drafting::autoregressive && best.gamma > min_gamma(scenario.convention)) best.gamma.reset();
  return best;
}

}  // namespace

std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma) {
  if (const auto* beta = std::get_if<BetaMixture>(&acceptance)) {
    return marginal_of(*beta, gamma);
  }
  const std::vector<double> conditional = conditional_of(acceptance, gamma);
  if (!conditional.empty()) return marginal_from_conditional(conditional);
  return gamma == 0 ? std::optional<std::vector<double>>(std::in_place) : std::nullopt;
}

double acceptance_decay(const Drafter& drafter) {
  if (const auto* block = std::get_if<BlockDrafter>(&drafter)) return block->decay;
  if (const auto* heads = std::get_if<Heads>(&drafter)) return heads->decay;
  if (const auto* stages = std::get_if<MlpSpeculator>(&drafter)) {
    return recovered_decay(stages->decay, stages->recovery);
  }
  return 1.0;
}

IterationDistribution iteration_distribution(const Scenario& scenario, double pool_acceptance, StopToken stop) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process == nullptr) {
    // In token fidelity the acceptance is known only from the pool.
    return std::isnan(pool_acceptance) ? IterationDistribution{}
                                       : ConstantLength{scenario, false, stop}(Iid{pool_acceptance});
  }
  if (const auto* copy = std::get_if<InputCopy>(&scenario.drafter)) {
    return copy_distribution(*copy, *process, scenario);
  }
  const AcceptanceProcess acceptance = drafted_acceptance(*process, scenario);
  const ConstantLength constant{scenario, process->sequence_length.has_value(), stop};
  return std::visit(UnderPolicy{constant, acceptance}, process->policy);
}

std::optional<BestGamma> best_constant_gamma(const Scenario& scenario, const IterationDistribution& distribution,
                                             double c) {
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process != nullptr) {
    if (std::holds_alternative<InputCopy>(scenario.drafter)) return std::nullopt;
    const auto* heads = std::get_if<Heads>(&scenario.drafter);
    const bool accuracies = heads != nullptr && !heads->accuracies.empty();
    const double decay = acceptance_decay(scenario.drafter);
    const auto* iid = std::get_if<Iid>(&process->acceptance);
    if (decay != 1.0 && iid != nullptr && !accuracies) return decaying_best_gamma(iid->alpha, decay, c, scenario);
    if (!distribution.alpha) {
      const AcceptanceProcess acceptance = drafted_acceptance(*process, scenario);
      const auto* positional = std::get_if<Positional>(&acceptance);
      if (positional == nullptr) return std::nullopt;
      return best_gamma(marginal_from_conditional(positional->conditional), c, scenario.convention, drafting);
    }
  }
  if (!distribution.alpha) return std::nullopt;
  return best_gamma(IidSetting{*distribution.alpha, c, scenario.convention, drafting});
}

}  // namespace foredraft::analytic
