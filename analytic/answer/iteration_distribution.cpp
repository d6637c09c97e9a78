// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/iteration_distribution.hpp"

#include <algorithm>
#include <cmath>

#include "analytic/draft_length/draft_length_rules.hpp"
#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/tokens/acceptance.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "scenario/cost.hpp"
#include "scenario/family.hpp"

namespace foredraft::analytic {
namespace {

std::vector<double> pmf_of(std::int64_t most, StopToken stop, const auto& at_least) {
  std::vector<double> pmf;
  StopMeter meter(stop);
  constexpr std::int64_t work = 10'000;  // cost of a tail evaluation: a product of thousands of factors
  for (std::int64_t k = 1; k <= most; ++k) {
    meter.spend(work);
    pmf.push_back(at_least(k) - (k < most ? at_least(k + 1) : 0.0));
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

/// Closed forms for a constant gamma, one overload per acceptance process.
class ConstantLength {
 public:
  ConstantLength(const Scenario& scenario, bool finite, StopToken stop)
      : scenario_(scenario), finite_(finite), stop_(stop) {}

  IterationDistribution operator()(const foredraft::Iid& iid) const {
    const IidIteration iteration{iid.alpha, scenario_.gamma, scenario_.convention};
    IterationDistribution law;
    law.mean = tokens_per_iteration(iteration);
    law.variance = tokens_variance(iteration);
    law.alpha = iid.alpha;
    if (finite_) {
      for (std::int64_t k = 1; k <= max_tokens(scenario_.gamma, scenario_.convention); ++k) {
        law.pmf.push_back(tokens_probability(iteration, k));
      }
    }
    return law;
  }

  IterationDistribution operator()(const foredraft::Positional& positional) const {
    return of_marginal(marginal_from_conditional(positional.conditional), scenario_.gamma);
  }

  [[nodiscard]] IterationDistribution of_marginal(const std::vector<double>& marginal, std::int64_t gamma) const {
    IterationDistribution law;
    law.mean = tokens_per_iteration(marginal, gamma, scenario_.convention);
    law.variance = tokens_variance(marginal, gamma, scenario_.convention);
    if (finite_) law.pmf = tokens_pmf(marginal, gamma, scenario_.convention);
    return law;
  }

  IterationDistribution operator()(const foredraft::BetaMixture& beta) const {
    const BetaMixture mixture{beta.a, beta.b};
    IterationDistribution law;
    law.mean = tokens_per_iteration(mixture, scenario_.gamma, scenario_.convention);
    law.variance = tokens_variance(mixture, scenario_.gamma, scenario_.convention);
    if (finite_) {
      law.pmf = pmf_of(max_tokens(scenario_.gamma, scenario_.convention), stop_,
                       [&](std::int64_t tokens) { return accepted_at_least(mixture, tokens - 1); });
    }
    return law;
  }

  IterationDistribution operator()(const foredraft::Markov& chain) const {
    IterationDistribution law;
    law.mean = tokens_per_iteration(MarkovAcceptance{chain.a, chain.b}, scenario_.gamma, scenario_.convention);
    return law;
  }

  IterationDistribution operator()(const Runs& runs) const {
    IterationDistribution law;
    law.mean = tokens_per_iteration(RunAcceptance{{runs.a, runs.b}, runs.spread, runs.rho}, scenario_.gamma);
    return law;
  }

  /// A trace, and processes without a known closed form.
  template <class Process>
  IterationDistribution operator()(const Process& /*process*/) const {
    return {};
  }

 private:
  const Scenario& scenario_;
  bool finite_;
  StopToken stop_;
};

IterationDistribution copy_distribution(const foredraft::InputCopy& drafter, const ProcessFidelity& process,
                                        const Scenario& scenario) {
  const InputCopy copy{drafter.edit_rate, drafter.realign};
  IterationDistribution law;
  if (process.sequence_length) {
    const auto [length, geometric] = *process.sequence_length;
    law.finite_tokens =
        length / (geometric ? input_copy_iterations_geometric(copy, scenario.gamma, scenario.convention, length)
                            : input_copy_iterations(copy, scenario.gamma, scenario.convention,
                                                    static_cast<std::int64_t>(length)));
    return law;
  }
  const VaryingYield yield = input_copy(copy, scenario.gamma, scenario.convention);
  law.mean = yield.tokens;
  law.mean_gamma = yield.mean_gamma;
  law.alpha = 1.0 - copy.edit_rate;
  return law;
}

/// Conditional acceptance of each draft up to gamma, for processes of independent iterations; empty for others.
std::vector<double> conditional_of(const AcceptanceProcess& acceptance, std::int64_t gamma) {
  if (const auto* positional = std::get_if<foredraft::Positional>(&acceptance)) {
    return {positional->conditional.begin(), positional->conditional.begin() + static_cast<std::ptrdiff_t>(gamma)};
  }
  if (const auto* iid = std::get_if<foredraft::Iid>(&acceptance)) return decaying_acceptance(iid->alpha, 1.0, gamma);
  return {};
}

/// Closed forms for each policy.
class UnderPolicy {
 public:
  UnderPolicy(const Scenario& scenario, const AcceptanceProcess& acceptance, bool finite, StopToken stop)
      : scenario_(scenario), acceptance_(acceptance), finite_(finite), stop_(stop) {}

  IterationDistribution operator()(const ConstantGamma& /*policy*/) const {
    return std::visit(ConstantLength(scenario_, finite_, stop_), acceptance_);
  }

  IterationDistribution operator()(const Plus2Minus1& /*policy*/) const {
    IterationDistribution law;
    law.alpha = alpha();
    const auto marginal = marginal_of(acceptance_, scenario_.gamma);
    if (!marginal || finite_) return law;
    const VaryingYield yield = plus2_minus1(*marginal, scenario_.convention);
    law.mean = yield.tokens;
    law.mean_gamma = yield.mean_gamma;
    return law;
  }

  IterationDistribution operator()(const foredraft::ConfidenceThreshold& policy) const {
    const ConfidenceThreshold threshold{.alpha = alpha().value(),
                                        .concentration = policy.concentration,
                                        .threshold = policy.threshold,
                                        .bias = policy.bias,
                                        .gamma = scenario_.gamma};
    const VaryingYield yield = confidence_threshold(threshold, scenario_.convention);
    IterationDistribution law = ConstantLength(scenario_, finite_, stop_)
                                    .of_marginal(reached(threshold, scenario_.convention), scenario_.gamma);
    law.mean = yield.tokens;
    law.mean_gamma = yield.mean_gamma;
    law.alpha = alpha();
    return law;
  }

  /// Policies without a known closed form.
  template <class Unknown>
  IterationDistribution operator()(const Unknown& /*policy*/) const {
    IterationDistribution law;
    law.alpha = alpha();
    return law;
  }

  IterationDistribution operator()(const OptimalStopping& /*policy*/) const {
    const double c = draft_ratio(scenario::decoding_cost(scenario_).value());
    IterationDistribution law;
    if (const auto* beta = std::get_if<foredraft::BetaMixture>(&acceptance_)) {
      if (finite_) return law;
      const VaryingYield yield = optimal_stopping({beta->a, beta->b}, scenario_.gamma, c, scenario_.convention);
      law.mean = yield.tokens;
      law.mean_gamma = yield.mean_gamma;
      return law;
    }
    const std::vector<double> conditional = conditional_of(acceptance_, scenario_.gamma);
    const std::vector<DraftScenario> always{{1.0, conditional}};
    const std::int64_t gamma = optimal_stopping(always, c, scenario_.convention).gamma.front();
    law = ConstantLength(scenario_, finite_, stop_).of_marginal(marginal_from_conditional(conditional), gamma);
    law.mean_gamma = static_cast<double>(gamma);
    law.alpha = alpha();
    return law;
  }

 private:
  [[nodiscard]] std::optional<double> alpha() const {
    const auto* iid = std::get_if<foredraft::Iid>(&acceptance_);
    return iid == nullptr ? std::nullopt : std::optional(iid->alpha);
  }

  const Scenario& scenario_;
  const AcceptanceProcess& acceptance_;
  bool finite_;
  StopToken stop_;
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
  if (const auto* beta = std::get_if<foredraft::BetaMixture>(&acceptance)) {
    return marginal_of(BetaMixture{beta->a, beta->b}, gamma);
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
                                       : ConstantLength(scenario, false, stop)(foredraft::Iid{pool_acceptance});
  }
  if (const auto* copy = std::get_if<foredraft::InputCopy>(&scenario.drafter))
    return copy_distribution(*copy, *process, scenario);
  const AcceptanceProcess acceptance = drafted_acceptance(*process, scenario);
  return std::visit(UnderPolicy(scenario, acceptance, process->sequence_length.has_value(), stop), process->policy);
}

std::optional<BestGamma> best_constant_gamma(const Scenario& scenario, const IterationDistribution& law, double c) {
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process != nullptr) {
    if (std::holds_alternative<foredraft::InputCopy>(scenario.drafter)) return std::nullopt;
    const auto* heads = std::get_if<Heads>(&scenario.drafter);
    const bool accuracies = heads != nullptr && !heads->accuracies.empty();
    const double decay = acceptance_decay(scenario.drafter);
    const auto* iid = std::get_if<foredraft::Iid>(&process->acceptance);
    if (decay != 1.0 && iid != nullptr && !accuracies) return decaying_best_gamma(iid->alpha, decay, c, scenario);
    if (!law.alpha) {
      const AcceptanceProcess acceptance = drafted_acceptance(*process, scenario);
      const auto* positional = std::get_if<foredraft::Positional>(&acceptance);
      if (positional == nullptr) return std::nullopt;
      return best_gamma(marginal_from_conditional(positional->conditional), c, scenario.convention, drafting);
    }
  }
  if (!law.alpha) return std::nullopt;
  return best_gamma(IidSetting{*law.alpha, c, scenario.convention, drafting});
}

}  // namespace foredraft::analytic
