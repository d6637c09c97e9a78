// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/drafting_law.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "analytic/draft_length/confidence_threshold.hpp"
#include "analytic/draft_length/optimal_stopping.hpp"
#include "analytic/draft_length/plus2_minus1.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/drafter_acceptance.hpp"
#include "analytic/tokens/input_copy.hpp"
#include "analytic/tokens/token_law.hpp"
#include "sim/drafter/drafter_registry.hpp"

namespace foredraft::experiments {
namespace {

double parameter_of(const PointInputs& inputs, const std::string& name, double otherwise) {
  const auto found = inputs.drafter_parameters.find(name);
  return found == inputs.drafter_parameters.end() ? otherwise : found->second;
}

bool copies_input(const PointInputs& inputs) { return inputs.drafter == "input_copy"; }

analytic::InputCopy copy_of(const PointInputs& inputs) {
  return {parameter_of(inputs, "edit_rate", 0.0), static_cast<std::int64_t>(parameter_of(inputs, "realign", 0.0))};
}

IterationLaw copy_law(const PointInputs& inputs) {
  const analytic::InputCopy copy = copy_of(inputs);
  IterationLaw law;
  if (inputs.sequence_length) {
    const double length = *inputs.sequence_length;
    law.finite_tokens =
        length / (inputs.geometric_length
                      ? analytic::input_copy_iterations_geometric(copy, inputs.gamma, inputs.convention, length)
                      : analytic::input_copy_iterations(copy, inputs.gamma, inputs.convention,
                                                        static_cast<std::int64_t>(length)));
    return law;
  }
  const analytic::VaryingYield yield = analytic::input_copy(copy, inputs.gamma, inputs.convention);
  law.mean = yield.tokens;
  law.mean_gamma = yield.mean_gamma;
  law.alpha = 1.0 - copy.edit_rate;
  return law;
}

/// Acceptance of draft i given all before it, up to gamma, of the processes of independent iterations; empty for
/// others.
std::vector<double> conditional_of(const PointInputs& inputs) {
  if (inputs.process == ProcessKind::positional) {
    return {inputs.conditional.begin(), inputs.conditional.begin() + static_cast<std::ptrdiff_t>(inputs.gamma)};
  }
  if (inputs.process == ProcessKind::iid) return analytic::decaying_acceptance(inputs.alpha, 1.0, inputs.gamma);
  return {};
}

IterationLaw heuristic_law(const PointInputs& inputs) {
  std::vector<double> marginal;
  const std::vector<double> conditional = conditional_of(inputs);
  if (!conditional.empty()) marginal = analytic::marginal_from_conditional(conditional);
  if (inputs.process == ProcessKind::beta_mixture) {
    for (std::int64_t k = 1; k <= inputs.gamma; ++k) {
      marginal.push_back(analytic::accepted_at_least({inputs.process_a, inputs.process_b}, k));
    }
  }
  IterationLaw law;
  if (inputs.process == ProcessKind::iid) law.alpha = inputs.alpha;
  if (marginal.empty() || inputs.sequence_length) return law;
  const analytic::VaryingYield yield = analytic::plus2_minus1(marginal, inputs.convention);
  law.mean = yield.tokens;
  law.mean_gamma = yield.mean_gamma;
  return law;
}

IterationLaw confidence_law(const PointInputs& inputs) {
  const analytic::ConfidenceThreshold policy{.alpha = inputs.alpha,
                                             .concentration = inputs.policy.concentration,
                                             .threshold = inputs.policy.threshold,
                                             .bias = inputs.policy.bias,
                                             .gamma = inputs.gamma};
  const analytic::VaryingYield yield = analytic::confidence_threshold(policy, inputs.convention);
  const std::vector<double> reached = analytic::reached(policy, inputs.convention);
  IterationLaw law;
  law.mean = yield.tokens;
  law.mean_gamma = yield.mean_gamma;
  law.variance = analytic::tokens_variance(reached, inputs.gamma, inputs.convention);
  law.alpha = inputs.alpha;
  if (inputs.sequence_length) law.pmf = analytic::tokens_pmf(reached, inputs.gamma, inputs.convention);
  return law;
}

IterationLaw stopping_law(const PointInputs& inputs) {
  IterationLaw law;
  const double c = draft_ratio(decoding_cost(inputs).value());
  if (inputs.process == ProcessKind::beta_mixture) {
    if (inputs.sequence_length) return law;
    const analytic::VaryingYield yield =
        analytic::optimal_stopping({inputs.process_a, inputs.process_b}, inputs.gamma, c, inputs.convention);
    law.mean = yield.tokens;
    law.mean_gamma = yield.mean_gamma;
    return law;
  }
  const std::vector<double> conditional = conditional_of(inputs);
  const std::vector<analytic::DraftScenario> always{{1.0, conditional}};
  const std::int64_t gamma = analytic::optimal_stopping(always, c, inputs.convention).gamma.front();
  const std::vector<double> marginal = analytic::marginal_from_conditional(conditional);
  law.mean = analytic::tokens_per_iteration(marginal, gamma, inputs.convention);
  law.variance = analytic::tokens_variance(marginal, gamma, inputs.convention);
  law.mean_gamma = static_cast<double>(gamma);
  if (inputs.process == ProcessKind::iid) law.alpha = inputs.alpha;
  if (inputs.sequence_length) law.pmf = analytic::tokens_pmf(marginal, gamma, inputs.convention);
  return law;
}

sim::GammaPolicy policy_of(const PointInputs& inputs) {
  switch (inputs.policy.kind) {
    case PolicyKind::constant:
      return sim::ConstantGamma{};
    case PolicyKind::plus2_minus1:
      return sim::Plus2Minus1{inputs.policy.start};
    case PolicyKind::confidence_threshold:
      return sim::ConfidenceThreshold{inputs.policy.threshold, inputs.policy.concentration, inputs.policy.bias};
    case PolicyKind::optimal_stopping:
      return sim::OptimalStopping{draft_ratio(decoding_cost(inputs).value())};
  }
  throw std::logic_error("unknown policy");
}

}  // namespace

double acceptance_decay(const PointInputs& inputs) {
  const double decay = parameter_of(inputs, "decay", 1.0);
  if (inputs.drafter == "block" || inputs.drafter == "heads") return decay;
  if (inputs.drafter == "mlp_speculator") {
    return analytic::recovered_decay(decay, parameter_of(inputs, "recovery", 0.0));
  }
  return 1.0;
}

bool gamma_varies(const PointInputs& inputs) {
  return inputs.policy.kind != PolicyKind::constant || inputs.drafting == Drafting::free;
}

PointInputs with_drafter_acceptance(const PointInputs& inputs) {
  PointInputs result = inputs;
  if (inputs.drafter == "heads" && !inputs.head_accuracies.empty()) {
    result.process = ProcessKind::positional;
    result.conditional = inputs.head_accuracies;
  } else if (const double decay = acceptance_decay(inputs); decay != 1.0) {
    result.process = ProcessKind::positional;
    result.conditional = analytic::decaying_acceptance(inputs.alpha, decay, inputs.gamma);
  }
  return result;
}

IterationLaw varying_law(const PointInputs& inputs) {
  if (copies_input(inputs)) return copy_law(inputs);
  switch (inputs.policy.kind) {
    case PolicyKind::constant:
      return {};
    case PolicyKind::plus2_minus1:
      return heuristic_law(inputs);
    case PolicyKind::confidence_threshold:
      return confidence_law(inputs);
    case PolicyKind::optimal_stopping:
      return stopping_law(inputs);
  }
  throw std::logic_error("unknown policy");
}

std::optional<analytic::BestGamma> decaying_best_gamma(const PointInputs& inputs, double c) {
  const double decay = acceptance_decay(inputs);
  if (decay == 1.0 || !inputs.head_accuracies.empty()) return std::nullopt;
  const std::vector<double> marginal = analytic::marginal_from_conditional(
      analytic::decaying_acceptance(inputs.alpha, decay, analytic::last_useful_draft(inputs.alpha, decay)));
  analytic::BestGamma best = analytic::best_gamma(marginal, c, inputs.convention, inputs.drafting);
  // What costs nothing more gains for ever, though ever less: the vector holds all of it but a 1e-20.
  if (inputs.drafting != Drafting::autoregressive && best.gamma > min_gamma(inputs.convention)) best.gamma.reset();
  return best;
}

sim::ProcessSimulation with_drafter_and_policy(const PointInputs& inputs, sim::ProcessSimulation simulation) {
  simulation.policy = policy_of(inputs);
  sim::DrafterSettings settings;
  if (inputs.drafter == "heads") settings.accuracies = inputs.head_accuracies;
  // A drafter takes no parameter of another, though a sweep over drafters may hold both.
  for (const sim::DrafterParameter& parameter : sim::find_drafter(inputs.drafter)->parameters) {
    const auto given = inputs.drafter_parameters.find(std::string(parameter.name));
    if (given != inputs.drafter_parameters.end()) settings.parameters.insert(*given);
  }
  return sim::drafted_by(inputs.drafter, settings, std::move(simulation));
}

}  // namespace foredraft::experiments
