// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/overlap.hpp"

/// Speedup of schedules that draft while the target verifies, in endless text.
namespace foredraft::analytic {

/// Tokens per decode step of the target, which is the speedup over autoregressive decoding. Infinite for c = 0 and
/// alpha = 1 under Overlap::dsi. On a shared device dsi has nothing to run beside a verification and is Overlap::none.
/// Throws DomainError for values outside of the ranges of OverlappedDrafting.
[[nodiscard]] double speedup(const OverlappedDrafting& drafting);

/// Most forward passes of the target that overlap under Overlap::dsi, each on a server of its own: ceil(1 / (gamma c))
/// that verify drafts, as in the authors' program (dsi/configs/run/run.py), and one after the last token that is known.
/// Infinite for c = 0. [Timor2025]
[[nodiscard]] double max_target_servers(const OverlappedDrafting& drafting);

}  // namespace foredraft::analytic
