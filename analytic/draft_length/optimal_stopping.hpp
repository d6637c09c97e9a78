// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/scenario.hpp"

/// The best that a drafter can do who knows how likely its next draft is to be accepted: it goes on while the chance
/// that the draft yields a token exceeds c times the speedup reached in the long run, which is a fixed point found by
/// Dinkelbach's iteration [Dinkelbach1967]. As survival only falls, no plan that looks further ahead does better: the
/// value of perfect calibration. Autoregressive drafting. Derivation in docs/model.md.
namespace foredraft::analytic {

/// One of the ways an iteration can go.
struct DraftScenario {
  double probability;               ///< of all scenarios: sum 1
  std::vector<double> conditional;  ///< [i]: draft i accepted given that all before it were; known to the drafter
};

struct StoppingPlan {
  std::vector<std::int64_t> gamma;  ///< of each scenario; ties to the smaller
  VaryingYield yield;
  double speedup;
};

/// At most conditional.size() drafts in each scenario; at least min_gamma(convention). c >= 0.
[[nodiscard]] StoppingPlan optimal_stopping(std::span<const DraftScenario> scenarios, double c, Convention convention);

/// The same for an alpha ~ Beta(a, b) drawn for each iteration and known to the drafter, by Beta tail integrals; at
/// most `gamma` <= max_known_alpha_gamma drafts.
[[nodiscard]] VaryingYield optimal_stopping(const BetaMixture& mixture, std::int64_t gamma, double c,
                                            Convention convention);

}  // namespace foredraft::analytic
