// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"

#pragma GCC visibility push(default)

/// How much a verification rule changes the target's distribution, and how much acceptance it gains.
namespace foredraft {

/// Means and standard errors over contexts; each context is computed exactly. The standard error is NaN for a single
/// context and for an infinite mean. p is the target's distribution, e the distribution of the token emitted at a
/// tested position.
struct Lossiness {
  /// Probability that a draft is accepted (under block_verification, of a draft of length 1); NaN if there are too many
  /// candidates to compute it.
  Estimate acceptance;
  Estimate acceptance_gain;   ///< acceptance minus sum min(p, q), the acceptance of one draft under a lossless rule
  Estimate total_variation;   ///< sum |e - p| / 2; 0 under a lossless rule
  Estimate kl_divergence;     ///< sum e ln(e / p), in nats; infinite if e emits a token of probability 0 under p
  Estimate entropy_change;    ///< entropy of e minus entropy of p, in nats; negative if e is sharper
  Estimate top1_agreement;    ///< fraction of contexts in which the most probable token of p is also one of e's
  Estimate top1_probability;  ///< probability under e of the most probable token of p
  /// Total variation of the joint distribution of successive tokens; for one token equal to total_variation.
  Estimate joint_total_variation;
};

/// Maximum number of tokens and of outcomes of a joint distribution.
inline constexpr std::int64_t max_joint_tokens = 3;
inline constexpr std::int64_t max_joint_outcomes = 1 << 21;

/// Lossiness of the rule of a scenario in token fidelity. Nothing is simulated. The models must be SyntheticModels,
/// whose pool is drawn from `seed`, or GivenModels. `tokens`: number of tokens of joint_total_variation, 1 to
/// max_joint_tokens. They start with the first token of an iteration of gamma drafts, include bonus tokens and tokens
/// of later iterations, and have successive contexts of the pool. Throws DomainError for any other scenario and as
/// simulate() does. For several tokens also throws it under block_verification, and if there are more than
/// max_joint_outcomes outcomes.
[[nodiscard]] Lossiness lossiness(const Scenario& scenario, std::uint64_t seed = 1, std::int64_t tokens = 1);

/// [context][token]: the distribution e of the token emitted at a tested position. Same requirements as lossiness().
[[nodiscard]] std::vector<std::vector<double>> emitted_distributions(const Scenario& scenario, std::uint64_t seed = 1);

}  // namespace foredraft

#pragma GCC visibility pop
