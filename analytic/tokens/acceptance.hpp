// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// Acceptance at one prefix from the target's distribution p and the drafter's q. [Leviathan2023, Def. 3.1, 3.2]
/// p and q are nonnegative, sum to one and have the same length; DomainError otherwise.
namespace foredraft::analytic {

/// beta = sum_x min(p(x), q(x)), the probability that a draft from q is accepted, in [0, 1].
[[nodiscard]] double acceptance_beta(std::span<const double> p, std::span<const double> q);

/// Total variation: half the L1 distance; computed independently of acceptance_beta.
[[nodiscard]] double total_variation(std::span<const double> p, std::span<const double> q);

/// D_LK(p, q) = sum_x |p - (p + q) / 2|, equal to the total variation. [Leviathan2023, Def. 3.2]
[[nodiscard]] double leviathan_divergence(std::span<const double> p, std::span<const double> q);

/// Acceptance probability of non-iterative rejection sampling with envelope max p/q: min_x q/p. [Leviathan2023, A.2]
[[nodiscard]] double envelope_acceptance(std::span<const double> p, std::span<const double> q);

}  // namespace foredraft::analytic
