// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/iid_tokens.hpp"
#include "analytic/tokens/token_law.hpp"
#include "analytic/tokens/varying_gamma.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/drafting_law.hpp"

namespace foredraft::experiments {
namespace {

std::vector<double> pmf_of(std::int64_t most, const auto& at_least) {
  std::vector<double> pmf;
  for (std::int64_t k = 1; k <= most; ++k) pmf.push_back(at_least(k) - (k < most ? at_least(k + 1) : 0.0));
  return pmf;
}

IterationLaw iid_law(double alpha, const PointInputs& inputs) {
  const analytic::IidIteration iteration{alpha, inputs.gamma, inputs.convention};
  IterationLaw law;
  law.mean = analytic::tokens_per_iteration(iteration);
  law.variance = analytic::tokens_variance(iteration);
  law.alpha = alpha;
  if (inputs.sequence_length) {
    for (std::int64_t k = 1; k <= max_tokens(inputs.gamma, inputs.convention); ++k) {
      law.pmf.push_back(analytic::tokens_probability(iteration, k));
    }
  }
  return law;
}

IterationLaw positional_law(const PointInputs& inputs) {
  const std::vector<double> marginal = analytic::marginal_from_conditional(inputs.conditional);
  IterationLaw law;
  law.mean = analytic::tokens_per_iteration(marginal, inputs.gamma, inputs.convention);
  law.variance = analytic::tokens_variance(marginal, inputs.gamma, inputs.convention);
  if (inputs.sequence_length) law.pmf = analytic::tokens_pmf(marginal, inputs.gamma, inputs.convention);
  return law;
}

IterationLaw beta_mixture_law(const PointInputs& inputs) {
  const analytic::BetaMixture mixture{inputs.process_a, inputs.process_b};
  IterationLaw law;
  law.mean = analytic::tokens_per_iteration(mixture, inputs.gamma, inputs.convention);
  law.variance = analytic::tokens_variance(mixture, inputs.gamma, inputs.convention);
  if (inputs.sequence_length) {
    law.pmf = pmf_of(max_tokens(inputs.gamma, inputs.convention),
                     [&](std::int64_t tokens) { return analytic::accepted_at_least(mixture, tokens - 1); });
  }
  return law;
}

IterationLaw markov_law(const PointInputs& inputs) {
  IterationLaw law;
  law.mean = analytic::tokens_per_iteration(analytic::MarkovAcceptance{inputs.process_a, inputs.process_b},
                                            inputs.gamma, inputs.convention);
  return law;
}

IterationLaw law_of(const PointInputs& inputs, double pool_acceptance) {
  if (inputs.fidelity == Fidelity::token) {
    return std::isnan(pool_acceptance) ? IterationLaw{} : iid_law(pool_acceptance, inputs);
  }
  if (gamma_varies(inputs)) return varying_law(inputs);
  switch (inputs.process) {
    case ProcessKind::iid:
      return iid_law(inputs.alpha, inputs);
    case ProcessKind::positional:
      return positional_law(inputs);
    case ProcessKind::beta_mixture:
      return beta_mixture_law(inputs);
    case ProcessKind::markov:
      return markov_law(inputs);
    case ProcessKind::trace:
      return {};
  }
  throw std::logic_error("unknown process");
}

double expected_iterations(const std::vector<double>& pmf, double length, bool geometric) {
  return geometric ? analytic::expected_iterations_geometric(pmf, length)
                   : analytic::expected_iterations(pmf, static_cast<std::int64_t>(length));
}

/// Tokens over iterations of finite sequences; nothing where iterations depend on each other.
/// The renewal sum takes some 10 us at 1,000 tokens, as long as the rest of a small point, and does not know c:
/// neighbours in a sweep over costs share it.
std::optional<double> finite_tokens_per_iteration(const IterationLaw& law, const PointInputs& inputs) {
  if (law.finite_tokens || law.pmf.empty()) return law.finite_tokens;
  struct Last {
    std::vector<double> pmf;
    double length;
    bool geometric;
    double iterations;
  };
  thread_local Last last{{}, 0.0, false, 0.0};
  const double length = inputs.sequence_length.value();
  if (last.pmf != law.pmf || last.length != length || last.geometric != inputs.geometric_length) {
    last = {law.pmf, length, inputs.geometric_length, expected_iterations(law.pmf, length, inputs.geometric_length)};
  }
  return length / last.iterations;
}

void add_best_gamma(const PointInputs& inputs, const DecodingCost& cost, const IterationLaw& law,
                    AnalyticAnswer& answer) {
  // A cost that was looked up for this gamma says nothing of others.
  if (inputs.sequence_length || inputs.drafter == "input_copy" || find_cost(inputs.cost).cost_at != nullptr) return;
  const double c = draft_ratio(cost);
  std::optional<analytic::BestGamma> best = decaying_best_gamma(inputs, c);
  if (!best && law.alpha) {
    best = analytic::best_gamma(analytic::IidSetting{*law.alpha, c, inputs.convention, inputs.drafting});
  } else if (!best && inputs.fidelity == Fidelity::process && inputs.process == ProcessKind::positional) {
    best = analytic::best_gamma(analytic::marginal_from_conditional(inputs.conditional), c, inputs.convention,
                                inputs.drafting);
  }
  if (!best) return;
  answer[best_gamma_metric] = best->gamma ? static_cast<double>(*best->gamma) : HUGE_VAL;
  answer[best_speedup_metric] = best->speedup / cost.iteration;
}

/// Passes of the drafter in an iteration; nothing where they vary and nobody knows how.
std::optional<double> draft_passes_of(const PointInputs& inputs, double tokens, const IterationLaw& law) {
  if (!gamma_varies(inputs)) return static_cast<double>(draft_passes(inputs.gamma, inputs.drafting));
  if (inputs.drafting == Drafting::free) return 0.0;
  if (!law.mean_gamma) return std::nullopt;
  return analytic::mean_draft_passes({tokens, *law.mean_gamma}, inputs.drafting);
}

void add_speedup(const PointInputs& inputs, const DecodingCost& cost, double tokens, const IterationLaw& law,
                 AnalyticAnswer& answer) {
  const std::optional<double> passes = draft_passes_of(inputs, tokens, law);
  if (!passes) return;
  answer[speedup_metric] =
      inputs.sequence_length
          ? analytic::sequence_speedup(*inputs.sequence_length, *inputs.sequence_length / tokens, *passes, cost)
          : analytic::speedup(tokens, *passes, cost);
}

void add_operations(const PointInputs& inputs, double tokens, const IterationLaw& law, AnalyticAnswer& answer) {
  if (!inputs.operations_ratio) return;
  if (!gamma_varies(inputs)) {
    answer[operations_factor_metric] =
        analytic::operations_factor(tokens, inputs.gamma, *inputs.operations_ratio, inputs.convention);
  } else if (law.mean_gamma) {
    answer[operations_factor_metric] = analytic::operations_factor(analytic::VaryingYield{tokens, *law.mean_gamma},
                                                                   *inputs.operations_ratio, inputs.convention);
  }
}

}  // namespace

AnalyticAnswer analytic_answer(const PointInputs& point, double pool_acceptance) {
  if (point.fidelity == Fidelity::system) return serving_answer(point);
  AnalyticAnswer answer;
  const PointInputs inputs = with_drafter_acceptance(point);
  const IterationLaw law = law_of(inputs, pool_acceptance);
  const bool finite = inputs.sequence_length.has_value();
  const std::optional<double> tokens = finite ? finite_tokens_per_iteration(law, inputs) : law.mean;
  const std::optional<DecodingCost> cost = decoding_cost(inputs);
  if (cost) add_best_gamma(inputs, *cost, law, answer);
  if (!tokens) return answer;
  answer[tokens_per_iteration_metric] = tokens;
  answer[memory_access_factor_metric] = analytic::memory_access_factor(*tokens);
  if (cost) add_speedup(inputs, *cost, *tokens, law, answer);
  add_operations(inputs, *tokens, law, answer);
  if (gamma_varies(inputs)) answer[mean_gamma_metric] = law.mean_gamma;
  if (finite) return answer;
  answer[tokens_variance_metric] = law.variance;
  if (inputs.gamma > 0) answer[per_token_metric] = law.alpha;
  // With a bonus token every iteration emits exactly one token that is no accepted draft.
  const double drafted = law.mean_gamma.value_or(static_cast<double>(inputs.gamma));
  if (drafted > 0.0 && inputs.convention == Convention::bonus) {
    answer[accepted_over_drafted_metric] = (*tokens - 1.0) / drafted;
  }
  return answer;
}

}  // namespace foredraft::experiments
