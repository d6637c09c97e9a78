// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foredraft/words.hpp"

/// Drafts whose length changes from iteration to iteration: what the long-run means of an iteration come to.
namespace foredraft::analytic {

/// Long-run means of one iteration. Whatever chooses the length drafts at least one token unless drafting is free.
struct VaryingYield {
  double tokens;      ///< emitted, the corrected or bonus token included
  double mean_gamma;  ///< drafted
};

/// Passes of the drafter in an iteration.
[[nodiscard]] double mean_draft_passes(const VaryingYield& yield, Drafting drafting);

/// (mean_gamma * operations_ratio + verified positions) / tokens; verified are the drafts, and one more position an
/// iteration with a bonus token.
[[nodiscard]] double operations_factor(const VaryingYield& yield, double operations_ratio, Convention convention);

/// Accepted over drafted tokens with a bonus token, where each iteration emits exactly one token that is no accepted
/// draft: (tokens - 1) / mean_gamma. NaN without drafts.
[[nodiscard]] double accepted_over_drafted(const VaryingYield& yield);

}  // namespace foredraft::analytic
