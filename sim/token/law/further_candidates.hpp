// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/random_stream.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// What a position emits behind the rejection of its first candidate.
struct FurtherOutcome {
  bool accepted;  ///< a further candidate stands; otherwise the token comes from the last residual
  Token token;
};

/// Draws and tests the candidates behind those rejected so far (at least one), by recursive rejection. O(V) for each.
[[nodiscard]] FurtherOutcome try_further_candidates(const PositionLaws& laws, const CandidateScheme& scheme,
                                                    std::span<const Token> rejected, RandomStream& random);

}  // namespace foredraft::sim
