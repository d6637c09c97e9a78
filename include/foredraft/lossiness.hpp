// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"

#pragma GCC visibility push(default)

/// How far a verification rule departs from the target's distribution, and how much acceptance it gains.
namespace foredraft {

/// Means over contexts with standard errors over contexts; each context is computed exactly. The standard error is NaN
/// for a single context and for an infinite mean. p is the target's distribution, e the one that a tested position
/// emits.
struct Lossiness {
  /// Probability that a draft is accepted, under block_verification the first one of a single draft; NaN if there are
  /// too many candidates to compute it.
  Estimate acceptance;
  Estimate acceptance_gain;   ///< acceptance minus sum min(p, q), the acceptance of one draft under a lossless rule
  Estimate total_variation;   ///< sum |e - p| / 2; 0 under a lossless rule
  Estimate kl_divergence;     ///< sum e ln(e / p), in nat; infinite if e emits a token of probability 0 under p
  Estimate entropy_change;    ///< entropy of e less that of p, in nat: below 0 where the rule sharpens
  Estimate top1_agreement;    ///< fraction of contexts in which the most probable token of p is also one of e's
  Estimate top1_probability;  ///< e at the most probable token of p
  /// Of the joint distribution of several successive tokens; of one token total_variation.
  Estimate joint_total_variation;
};

/// Maximum number of tokens of a joint distribution, and of its outcomes.
inline constexpr std::int64_t max_joint_tokens = 3;
inline constexpr std::int64_t max_joint_outcomes = 1 << 21;

/// Lossiness of the rule of a scenario in token fidelity. Its models are SyntheticModels, whose pool is drawn from
/// `seed`, or GivenModels. Nothing is simulated. `tokens`: those of joint_total_variation, 1 to max_joint_tokens. They
/// are the first ones of an iteration of the scenario's gamma drafts and of the iterations after it, bonus tokens
/// included, in successive contexts of the pool. Throws DomainError for any other scenario and as simulate() does, and
/// if several tokens have more than max_joint_outcomes outcomes or are verified together (block_verification).
[[nodiscard]] Lossiness lossiness(const Scenario& scenario, std::uint64_t seed = 1, std::int64_t tokens = 1);

/// [context][token]: the distribution e that a tested position of the same scenario emits.
[[nodiscard]] std::vector<std::vector<double>> emitted_distributions(const Scenario& scenario, std::uint64_t seed = 1);

}  // namespace foredraft

#pragma GCC visibility pop
