// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/intervals.hpp"
#include "sim/token/rules/verification_rule.hpp"

/// What a verification rule gives up of the target's law for the acceptance that it gains. Computed from the rule's
/// emitted law e at every context, so exact there; the standard errors speak of the contexts as a sample.
namespace foredraft::sim {

/// At one position.
struct PositionLossiness {
  double acceptance;        ///< of the rule; NaN where acceptance_probability() is
  double acceptance_gain;   ///< acceptance minus sum min(p, q), which one draft has under a lossless rule
  double total_variation;   ///< sum |e - p| / 2
  double kl_divergence;     ///< sum e ln(e / p) (nat); infinite where e emits what p never does
  double top1_agreement;    ///< 1 where the most probable token of p (lowest index on ties) is one of e's; else 0
  double top1_probability;  ///< e at the most probable token of p: how often greedy decoding's token is emitted
};

[[nodiscard]] PositionLossiness lossiness(const VerificationRule& rule, const PositionLaws& laws);

/// Means over contexts, each with its standard error over contexts: NaN for a single context, and for an infinite mean.
struct Lossiness {
  Estimate acceptance;
  Estimate acceptance_gain;
  Estimate total_variation;
  Estimate kl_divergence;
  Estimate top1_agreement;
  Estimate top1_probability;
};

/// At least one position.
[[nodiscard]] Lossiness mean_lossiness(std::span<const PositionLossiness> positions);

}  // namespace foredraft::sim
