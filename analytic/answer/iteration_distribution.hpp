// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "core/parallel.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

/// What drafter, acceptance process and policy make of an iteration.
namespace foredraft::analytic {

/// Tokens of one iteration by closed form; what has none is absent.
struct IterationDistribution {
  std::optional<double> mean;           ///< in endless text
  std::optional<double> variance;       ///< only where iterations are independent
  std::optional<double> alpha;          ///< acceptance per tested draft
  std::vector<double> pmf;              ///< only for finite sequences of independent iterations
  std::optional<double> mean_gamma;     ///< drafts of an iteration, only where they vary
  std::optional<double> finite_tokens;  ///< over finite sequences, only where `pmf` cannot say
};

/// Of a scenario that is no server. `pool_acceptance` and `stop` as for answer().
[[nodiscard]] IterationDistribution iteration_distribution(const Scenario& scenario, double pool_acceptance,
                                                           StopToken stop = {});

/// [i]: draft i and all before it accepted, of `gamma` drafts; nothing for processes whose iterations depend on each
/// other. A Positional has at least `gamma` entries.
[[nodiscard]] std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

/// The factor by which acceptance falls from each position to the next; 1 for drafters that do not get worse.
[[nodiscard]] double acceptance_decay(const Drafter& drafter);

/// Best constant draft length for a drafter that costs c of the rest of an iteration a pass, whatever gamma of the
/// scenario; nothing where no closed form knows it.
[[nodiscard]] std::optional<BestGamma> best_constant_gamma(const Scenario& scenario, const IterationDistribution& law,
                                                           double c);

}  // namespace foredraft::analytic
