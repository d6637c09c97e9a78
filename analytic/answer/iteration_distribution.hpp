// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "core/parallel.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/words.hpp"

/// The tokens of an iteration for a drafter, an acceptance process, a policy and a sequence length.
namespace foredraft::analytic {

/// Closed forms of the tokens of one iteration. A member without a closed form is empty.
struct IterationDistribution {
  std::optional<double> mean = {};        ///< in endless text
  std::optional<double> variance = {};    ///< if iterations are independent
  std::optional<double> alpha = {};       ///< acceptance per tested draft
  std::optional<double> mean_gamma = {};  ///< mean draft length, if it varies
  std::optional<double> iterations = {};  ///< mean number of iterations of a finite sequence
  /// Acceptance of the drafts; empty if they are copied or staged, or if it is unknown.
  std::optional<DraftedAcceptance> drafted = {};
};

/// Closed forms at a constant draft length in endless text. gamma is at most the number of entries of a Positional.
[[nodiscard]] IterationDistribution constant_length(const AcceptanceProcess& drafted, std::int64_t gamma,
                                                    Convention convention);

/// The distribution for a scenario that is not a server. `pool_acceptance` and `stop` as for answer().
[[nodiscard]] IterationDistribution iteration_distribution(const Scenario& scenario,
                                                           double pool_acceptance = unknown<double>,
                                                           StopToken stop = {});

}  // namespace foredraft::analytic
