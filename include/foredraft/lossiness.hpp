// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

#pragma GCC visibility push(default)

/// What a verification rule gives up of the target's distribution for the acceptance that it gains.
namespace foredraft {

/// Means over contexts of what is exact in each, with standard errors over contexts: NaN for a single context, and for
/// an infinite mean. p: the target's distribution, e: the one that a tested position emits.
struct Lossiness {
  Estimate acceptance;        ///< probability that a draft is accepted; NaN where too many candidates make it unknown
  Estimate acceptance_gain;   ///< acceptance minus sum min(p, q), which one draft has under a lossless rule
  Estimate total_variation;   ///< sum |e - p| / 2; 0 under a lossless rule
  Estimate kl_divergence;     ///< sum e ln(e / p), in nat; infinite where e emits what p never does
  Estimate top1_agreement;    ///< share of contexts where the most probable token of p is one of e's
  Estimate top1_probability;  ///< e at the most probable token of p
};

/// Of a scenario in token fidelity with SyntheticModels, whose pool is drawn from `seed`, or GivenModels. Nothing is
/// simulated. Throws DomainError for any other scenario and as simulate() does.
[[nodiscard]] Lossiness lossiness(const Scenario& scenario, std::uint64_t seed = 1);

/// [context][token]: what a tested position of the same scenario emits, e.
[[nodiscard]] std::vector<std::vector<double>> emitted_distributions(const Scenario& scenario, std::uint64_t seed = 1);

}  // namespace foredraft

#pragma GCC visibility pop
