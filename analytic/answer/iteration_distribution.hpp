// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/decoding_cost.hpp"
#include "core/parallel.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/words.hpp"

/// Tokens and cost of an iteration that follow from drafter, acceptance process, policy and sequence length.
namespace foredraft::analytic {

/// The acceptance of the drafts of a scenario: that of its drafter if it has its own, else that of the process.
struct DraftedAcceptance {
  AcceptanceProcess process = {};  ///< a Positional has its `marginal`
  /// Entries of a Positional that falls by a constant factor without end: after them 1e-20 of the drafts remain. Empty
  /// for any other acceptance.
  std::optional<std::int64_t> useful = {};
};

/// Closed forms of the tokens of one iteration; empty for those without one.
struct IterationDistribution {
  std::optional<double> mean = {};                ///< in endless text
  std::optional<double> variance = {};            ///< if iterations are independent
  std::optional<double> alpha = {};               ///< acceptance per tested draft
  std::optional<double> mean_gamma = {};          ///< mean draft length, if it varies
  std::optional<double> iterations = {};          ///< mean number for a finite sequence
  std::optional<DraftedAcceptance> drafted = {};  ///< empty if drafts are copied, or their acceptance is not known
};

/// The drafted acceptance of a scenario in process fidelity whose drafter copies no input; at least `drafts` entries
/// where it falls by a constant factor.
[[nodiscard]] DraftedAcceptance drafted_acceptance(const Scenario& scenario, std::int64_t drafts);

/// Closed forms at a constant draft length in endless text. At most as many drafts as a Positional has entries.
[[nodiscard]] IterationDistribution constant_length(const AcceptanceProcess& drafted, std::int64_t gamma,
                                                    Convention convention);

/// The distribution for a scenario that is not a server. `pool_acceptance` and `stop` as for answer().
[[nodiscard]] IterationDistribution iteration_distribution(const Scenario& scenario, double pool_acceptance,
                                                           StopToken stop = {});

/// [i]: P(drafts 0 to i are all accepted).
[[nodiscard]] std::vector<double> marginal_of(const Positional& acceptance);

/// [i]: P(drafts 0 to i are all accepted), i < gamma; nullopt for processes whose iterations depend on each other.
[[nodiscard]] std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

}  // namespace foredraft::analytic
