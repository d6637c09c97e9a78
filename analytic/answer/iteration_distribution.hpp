// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "core/parallel.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"

/// Tokens of an iteration that follow from drafter, acceptance process and policy.
namespace foredraft::analytic {

/// Closed forms of the tokens of one iteration; empty for those without one.
struct IterationDistribution {
  std::optional<double> mean = {};        ///< in endless text
  std::optional<double> variance = {};    ///< if iterations are independent
  std::optional<double> alpha = {};       ///< acceptance per tested draft
  std::vector<double> pmf = {};           ///< P(X = k) at [k - 1], if a sequence is finite and iterations independent
  std::optional<double> mean_gamma = {};  ///< mean draft length, if it varies
  std::optional<double> finite_tokens = {};  ///< tokens per iteration of finite sequences, if `pmf` is empty
};

/// The distribution for a scenario that is not a server. `pool_acceptance` and `stop` as for answer().
[[nodiscard]] IterationDistribution iteration_distribution(const Scenario& scenario, double pool_acceptance,
                                                           StopToken stop = {});

/// [i]: P(drafts 0 to i are all accepted), i < gamma; nullopt for processes whose iterations depend on each other.
[[nodiscard]] std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

/// The factor by which acceptance falls from each position to the next; 1 for drafters whose acceptance does not fall.
[[nodiscard]] double acceptance_decay(const Drafter& drafter);

/// Best gamma for a draft pass that costs c times the rest of an iteration; nullopt if there is no closed form.
[[nodiscard]] std::optional<BestGamma> best_constant_gamma(const Scenario& scenario,
                                                           const IterationDistribution& distribution, double c);

}  // namespace foredraft::analytic
