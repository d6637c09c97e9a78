// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/drafter.hpp"

/// Acceptance of each position of a draft: conditionals a_j = P(draft j accepted | all before it accepted) and
/// marginals m_i = P(draft i and all before it accepted) = prod_{j<=i} a_j.
namespace foredraft::analytic {

/// Marginals from conditionals: running products. Entries in [0, 1].
[[nodiscard]] std::vector<double> marginal_from_conditional(std::span<const double> conditional);

/// [i]: P(drafts 0 to i are all accepted), with the digits as given.
[[nodiscard]] std::vector<double> marginal_of(const Positional& acceptance);

/// Conditional acceptance of each draft up to gamma, for processes of independent iterations; empty for others.
[[nodiscard]] std::vector<double> conditional_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

/// [i]: P(drafts 0 to i are all accepted), i < gamma; nullopt for processes whose iterations depend on each other.
[[nodiscard]] std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

// ---- Drafters whose acceptance falls with the position.

/// Conditional acceptance first * decay^i of draft i = 0, 1, ..., `gamma` entries, at most 2^24. first and decay in [0,
/// 1].
[[nodiscard]] std::vector<double> decaying_acceptance(double first, double decay, std::int64_t gamma);

/// Remaining decay if seeing the previous token recovers a fraction `recovery` of the loss, on a logarithmic scale:
/// decay^(1 - recovery). Both in [0, 1]; recovery 1: no decay.
[[nodiscard]] double recovered_decay(double decay, double recovery);

/// Draft length at which P(all drafts accepted) falls below 1e-20, at most 100,000. first, decay in [0, 1].
[[nodiscard]] std::int64_t last_useful_draft(double first, double decay);

/// The acceptance of drafts: that of their drafter if it has its own, else that of the process.
struct DraftedAcceptance {
  AcceptanceProcess process = {};  ///< a Positional has its `marginal`
  /// Entries of a Positional that falls by a constant factor without end: after them 1e-20 of the drafts remain. Empty
  /// for any other acceptance.
  std::optional<std::int64_t> useful = {};
};

/// What `drafter` makes of the acceptance of a process; at least `drafts` entries where it falls by a constant factor.
/// Not for drafters that copy.
[[nodiscard]] DraftedAcceptance drafted_acceptance(const AcceptanceProcess& process, const Drafter& drafter,
                                                   std::int64_t drafts);

}  // namespace foredraft::analytic
