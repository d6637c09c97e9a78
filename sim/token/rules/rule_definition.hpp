// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foredraft/scenario.hpp"
#include "sim/token/rules/verification_rule.hpp"

/// What the files of this folder define, one for each rule of a scenario. Parameters have been checked.
namespace foredraft::sim::rules {

using MadeRule = std::unique_ptr<const VerificationRule>;

[[nodiscard]] MadeRule make(const AcceptAll& rule);
[[nodiscard]] MadeRule make(const GreedyMatch& rule);
[[nodiscard]] MadeRule make(const Lenient& rule);
[[nodiscard]] MadeRule make(const MultiCandidate& rule);
[[nodiscard]] MadeRule make(const RejectionSampling& rule);
[[nodiscard]] MadeRule make(const SigmoidApproximation& rule);
[[nodiscard]] MadeRule make(const TopBeta& rule);
[[nodiscard]] MadeRule make(const TypicalAcceptance& rule);

}  // namespace foredraft::sim::rules
