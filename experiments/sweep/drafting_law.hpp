// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "experiments/config/sweep_config.hpp"
#include "sim/process/process_simulation.hpp"

/// What drafters and gamma policies make of a point: its simulation, and its closed form where there is one.
namespace foredraft::experiments {

/// Tokens of one iteration by closed form; what has none is absent.
struct IterationLaw {
  std::optional<double> mean;           ///< in endless text
  std::optional<double> variance;       ///< only where iterations are independent
  std::optional<double> alpha;          ///< acceptance per tested draft
  std::vector<double> pmf;              ///< only for finite sequences of independent iterations
  std::optional<double> mean_gamma;     ///< drafts of an iteration, only where they vary
  std::optional<double> finite_tokens;  ///< over finite sequences, only where `pmf` cannot say
};

/// Whether drafts differ in length from one iteration to the next at this point, other than by the batch.
[[nodiscard]] bool gamma_varies(const PointInputs& inputs);

/// The factor by which acceptance falls from each position to the next; 1 for drafters that do not get worse. A point
/// of token fidelity has no such parameter: real tokens are accepted as often as they turn out to be.
[[nodiscard]] double acceptance_decay(const PointInputs& inputs);

/// A point of process fidelity with the acceptance of its drafter in place of the acceptance process: positional where
/// a decay or accuracies say so. A point of token fidelity stays as it is.
[[nodiscard]] PointInputs with_drafter_acceptance(const PointInputs& inputs);

/// The law under a policy or of a copying drafter, for what with_drafter_acceptance gave and gamma_varies.
[[nodiscard]] IterationLaw varying_law(const PointInputs& inputs);

/// The best gamma where acceptance falls by a factor from each position to the next, with a draft pass at c times the
/// rest of an iteration; nothing for any other point.
[[nodiscard]] std::optional<analytic::BestGamma> decaying_best_gamma(const PointInputs& inputs, double c);

/// The simulation with the drafter and the policy of the point in place.
[[nodiscard]] sim::ProcessSimulation with_drafter_and_policy(const PointInputs& inputs,
                                                             sim::ProcessSimulation simulation);

}  // namespace foredraft::experiments
