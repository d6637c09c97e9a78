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

/// [i]: P(drafts 0 to i are all accepted), with the digits that the user typed.
[[nodiscard]] std::vector<double> marginal_of(const Positional& acceptance);

/// Conditional acceptance of each draft up to gamma; empty for processes with dependent iterations.
[[nodiscard]] std::vector<double> conditional_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

/// [i]: P(drafts 0 to i are all accepted), i < gamma; nullopt for processes with dependent iterations.
[[nodiscard]] std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma);

// ---- Drafters whose acceptance falls with the position.

/// Conditional acceptance first * decay^i of draft i = 0, 1, ..., `gamma` entries, at most 2^24. first and decay in [0,
/// 1].
[[nodiscard]] std::vector<double> decaying_acceptance(double first, double decay, std::int64_t gamma);

/// Decay if reading the previous token recovers a fraction `recovery` of the loss on a logarithmic scale: decay^(1 -
/// recovery). Both in [0, 1]; recovery 1: no decay.
[[nodiscard]] double recovered_decay(double decay, double recovery);

/// Draft length at which P(all drafts accepted) falls below 1e-20, at most 100,000. first, decay in [0, 1].
[[nodiscard]] std::int64_t last_useful_draft(double first, double decay);

/// The acceptance of drafts: of the drafter if it defines one, else of the process.
struct DraftedAcceptance {
  AcceptanceProcess process = {};  ///< a Positional has `marginal` set
  /// For a Positional that decays by a constant factor without end: the number of entries after which fewer than 1e-20
  /// of the drafts are accepted. Empty for any other acceptance.
  std::optional<std::int64_t> useful = {};
};

/// Combines the acceptance of a process with the drafter's. Has at least `drafts` entries if the acceptance decays by a
/// constant factor. Not for drafters that copy.
[[nodiscard]] DraftedAcceptance drafted_acceptance(const AcceptanceProcess& process, const Drafter& drafter,
                                                   std::int64_t drafts);

}  // namespace foredraft::analytic
