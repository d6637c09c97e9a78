// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/iteration_distribution.hpp"

#include <cmath>
#include <span>
#include <utility>

#include "analytic/draft_length/draft_length_rules.hpp"
#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/drafter_cascades.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"

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

IterationDistribution varying(const VaryingYield& yield, std::optional<double> alpha = std::nullopt) {
  return {.mean = yield.tokens, .alpha = alpha, .mean_gamma = yield.mean_gamma};
}

/// Closed forms for a constant gamma, one overload per acceptance process.
struct ConstantLength {
  std::int64_t gamma;
  Convention convention;
  const SequenceLength* length = nullptr;  ///< of finite sequences
  StopToken stop = {};

  /// Mean iterations of a finite sequence; pmf[k - 1] is P(X = k).
  [[nodiscard]] double iterations(std::span<const double> pmf) const {
    return length->geometric ? expected_iterations_geometric(pmf, length->tokens)
                             : expected_iterations(pmf, static_cast<std::int64_t>(length->tokens), stop);
  }

  IterationDistribution operator()(const Iid& iid) const {
    const IidIteration iteration{iid.alpha, gamma, convention};
    return {.mean = tokens_per_iteration(iteration),
            .variance = tokens_variance(iteration),
            .alpha = iid.alpha,
            .iterations = length == nullptr ? std::nullopt : std::optional(iterations(tokens_pmf(iteration)))};
  }

  IterationDistribution operator()(const Positional& positional) const {
    return of_marginal(positional.marginal, gamma);
  }

  [[nodiscard]] IterationDistribution of_marginal(std::span<const double> marginal, std::int64_t drafts) const {
    return {.mean = tokens_per_iteration(marginal, drafts, convention),
            .variance = tokens_variance(marginal, drafts, convention),
            .iterations =
                length == nullptr ? std::nullopt : std::optional(iterations(tokens_pmf(marginal, drafts, convention)))};
  }

  /// The same with a varying draft length of at most gamma.
  [[nodiscard]] IterationDistribution of_stopped(const StoppedDrafts& drafts, std::optional<double> alpha) const {
    IterationDistribution distribution = of_marginal(drafts.reached, gamma);
    distribution.mean = drafts.yield.tokens;
    distribution.mean_gamma = drafts.yield.mean_gamma;
    distribution.alpha = alpha;
    return distribution;
  }

  IterationDistribution operator()(const BetaMixture& mixture) const {
    return {.mean = tokens_per_iteration(mixture, gamma, convention),
            .variance = tokens_variance(mixture, gamma, convention),
            .iterations = length == nullptr
                              ? std::nullopt
                              : std::optional(iterations(pmf_of(mixture, max_tokens(gamma, convention), stop)))};
  }

  IterationDistribution operator()(const Markov& chain) const {
    return {.mean = tokens_per_iteration(chain, gamma, convention)};
  }

  IterationDistribution operator()(const Runs& runs) const { return {.mean = tokens_per_iteration(runs, gamma)}; }

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
  return {.iterations = geometric ? input_copy_iterations_geometric(copy, scenario.gamma, scenario.convention, length)
                                  : input_copy_iterations(copy, scenario.gamma, scenario.convention,
                                                          static_cast<std::int64_t>(length))};
}

/// Closed forms for each policy.
struct UnderPolicy {
  const Scenario& scenario;
  ConstantLength constant;
  const AcceptanceProcess& acceptance;

  IterationDistribution operator()(const ConstantGamma& /*policy*/) const { return std::visit(constant, acceptance); }

  IterationDistribution operator()(const Plus2Minus1& /*policy*/) const {
    const auto marginal = marginal_of(acceptance, constant.gamma);
    if (!marginal || constant.length != nullptr) return {.alpha = alpha()};
    return varying(plus2_minus1(*marginal, constant.convention), alpha());
  }

  /// A drafter under a policy that compares a confidence with a threshold.
  template <class Policy>
  [[nodiscard]] ConfidentDrafter drafter_under(const Policy& policy) const {
    return {.alpha = alpha().value(),
            .concentration = policy.concentration,
            .threshold = policy.threshold,
            .bias = policy.bias,
            .gamma = constant.gamma};
  }

  IterationDistribution operator()(const ConfidenceThreshold& policy) const {
    const ConfidentDrafter drafter = drafter_under(policy);
    return constant.of_stopped(
        {confidence_threshold(drafter, constant.convention), reached(drafter, constant.convention)}, alpha());
  }

  IterationDistribution operator()(const EntropyThreshold& policy) const {
    return (*this)(ConfidenceThreshold{.threshold = confidence_of_entropy(policy.threshold, policy.alternatives),
                                       .concentration = policy.concentration,
                                       .bias = policy.bias});
  }

  IterationDistribution operator()(const RejectionProbability& policy) const {
    return constant.of_stopped(rejection_probability(drafter_under(policy), constant.convention), alpha());
  }

  IterationDistribution operator()(const OptimalTokenStopping& policy) const {
    return constant.of_stopped(
        optimal_token_stopping(alpha().value(), policy.concentration, constant.gamma,
                               draft_ratio(scenario::decoding_cost(scenario).value()), constant.convention),
        std::nullopt);  // drafted tokens are selected by their acceptance
  }

  /// Policies without a known closed form.
  template <class Unknown>
  IterationDistribution operator()(const Unknown& /*policy*/) const {
    return {.alpha = alpha()};
  }

  IterationDistribution operator()(const OptimalStopping& /*policy*/) const {
    const double c = draft_ratio(scenario::decoding_cost(scenario).value());
    if (const auto* beta = std::get_if<BetaMixture>(&acceptance)) {
      if (constant.length != nullptr) return {};
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

IterationDistribution staged_distribution(const StagedDrafter& staged, const ProcessFidelity& process,
                                          const Scenario& scenario, StopToken stop) {
  const double alpha = std::get<Iid>(process.acceptance).alpha;
  const ConstantLength constant{.gamma = scenario.gamma,
                                .convention = scenario.convention,
                                .length = process.sequence_length ? &*process.sequence_length : nullptr,
                                .stop = stop};
  return constant.of_stopped({staged_tokens(staged, alpha, scenario.gamma, scenario.convention),
                              staged_tokens_beyond(staged, alpha, scenario.gamma, scenario.convention)},
                             alpha);
}

}  // namespace

IterationDistribution constant_length(const AcceptanceProcess& drafted, std::int64_t gamma, Convention convention) {
  return std::visit(ConstantLength{.gamma = gamma, .convention = convention}, drafted);
}

IterationDistribution iteration_distribution(const Scenario& scenario, double pool_acceptance, StopToken stop) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process == nullptr) {
    // In token fidelity the acceptance is known only from the pool.
    if (std::isnan(pool_acceptance)) return {};
    IterationDistribution pooled = constant_length(Iid{pool_acceptance}, scenario.gamma, scenario.convention);
    pooled.drafted = {Iid{pool_acceptance}};
    return pooled;
  }
  if (const auto* copy = std::get_if<InputCopy>(&scenario.drafter)) {
    return copy_distribution(*copy, *process, scenario);
  }
  if (const auto* staged = std::get_if<StagedDrafter>(&scenario.drafter)) {
    return staged_distribution(*staged, *process, scenario, stop);
  }
  DraftedAcceptance drafted = drafted_acceptance(process->acceptance, scenario.drafter, scenario.gamma);
  const ConstantLength constant{.gamma = scenario.gamma,
                                .convention = scenario.convention,
                                .length = process->sequence_length ? &*process->sequence_length : nullptr,
                                .stop = stop};
  IterationDistribution iteration = std::visit(UnderPolicy{scenario, constant, drafted.process}, process->policy);
  iteration.drafted = std::move(drafted);
  return iteration;
}

}  // namespace foredraft::analytic
