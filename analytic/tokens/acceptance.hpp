// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/words.hpp"

/// Acceptance at one prefix from the target's distribution p and the drafter's q. [Leviathan2023, Def. 3.1, 3.2] p and
/// q are nonnegative, sum to one and have the same length; DomainError otherwise.
namespace foredraft::analytic {

/// beta = sum_x min(p(x), q(x)), the probability that a draft from q is accepted, in [0, 1].
[[nodiscard]] double acceptance_beta(std::span<const double> p, std::span<const double> q);

/// Total variation: half the L1 distance; computed independently of acceptance_beta.
[[nodiscard]] double total_variation(std::span<const double> p, std::span<const double> q);

/// D_LK(p, q) = sum_x |p - (p + q) / 2|, equal to the total variation. [Leviathan2023, Def. 3.2]
[[nodiscard]] double leviathan_divergence(std::span<const double> p, std::span<const double> q);

/// Acceptance probability of non-iterative rejection sampling with envelope max p/q: min_x q/p. [Leviathan2023, A.2]
[[nodiscard]] double envelope_acceptance(std::span<const double> p, std::span<const double> q);

// ---- Conversions among the acceptance numbers in use. All assume i.i.d. acceptance; gamma >= 1.

/// All definitions of acceptance for one alpha and gamma, gamma at most 1e7 (the vectors).
struct AcceptanceNumbers {
  double per_token;                 ///< accepted divided by verified drafts up to the first rejection: alpha itself
  std::vector<double> conditional;  ///< [i]: P(draft i accepted | all before it were), i = 0..gamma-1
  std::vector<double> marginal;     ///< [i]: P(drafts 0 to i all accepted)
  double accepted_over_drafted;     ///< accepted drafts divided by drafted tokens
  double acceptance_length;         ///< tokens per iteration, including the corrected or bonus token
};
[[nodiscard]] AcceptanceNumbers acceptance_numbers(double alpha, std::int64_t gamma, Convention convention);

/// The alpha whose tokens per iteration are `acceptance_length`, in [1, max_tokens]. max_tokens >= 2: with one token
/// alpha is not determined.
[[nodiscard]] double alpha_from_acceptance_length(double acceptance_length, std::int64_t gamma, Convention convention);

/// The alpha whose accepted drafts per drafted token are `accepted_over_drafted`, in [0, 1].
[[nodiscard]] double alpha_from_accepted_over_drafted(double accepted_over_drafted, std::int64_t gamma);

// ---- Drafters whose acceptance falls with the position, as arguments for the functions of token_distribution.hpp.

/// Conditional acceptance first * decay^i of draft i = 0, 1, ..., `gamma` entries. first and decay in [0, 1].
[[nodiscard]] std::vector<double> decaying_acceptance(double first, double decay, std::int64_t gamma);

/// Remaining decay if seeing the previous token recovers a fraction `recovery` of the loss, on a logarithmic scale:
/// decay^(1 - recovery). Both in [0, 1]; recovery 1: no decay.
[[nodiscard]] double recovered_decay(double decay, double recovery);

/// Draft length at which the probability that all drafts are accepted falls below 1e-20, at most 100,000: beyond it,
/// gamma makes no difference. first, decay in [0, 1].
[[nodiscard]] std::int64_t last_useful_draft(double first, double decay);

}  // namespace foredraft::analytic
