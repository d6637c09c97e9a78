// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "sim/token/models/model_pair.hpp"

/// The three numbers of a LogitLadder from three acceptances.
namespace foredraft::experiments {

inline constexpr std::int64_t ladder_contexts = 8000;
inline constexpr std::int64_t ladder_ranks = 32;

struct LadderTarget {
  sim::TopBetaRule rule;
  double acceptance;
};

/// Newton's method on the logarithms of spread, noise and unlike, from a start that suits a drafter that is right nine
/// times in ten. Throws std::runtime_error where it does not arrive.
[[nodiscard]] sim::LogitLadder fit_ladder(const sim::LadderContexts& contexts,
                                          const std::array<LadderTarget, 3>& targets);

}  // namespace foredraft::experiments
