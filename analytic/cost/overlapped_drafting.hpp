// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/overlap.hpp"

/// Speedup of schedules that draft while the target verifies, in endless text.
namespace foredraft::analytic {

/// Tokens per decode step of the target, which is the speedup over autoregressive decoding. Infinite for c = 0 and
/// alpha = 1 under Overlap::dsi. On a shared device nothing overlaps, and dsi equals Overlap::none. Throws DomainError
/// for values outside of the ranges of OverlappedDrafting.
[[nodiscard]] double speedup(const OverlappedDrafting& drafting);

/// Maximum number of target forward passes that overlap under Overlap::dsi, each on its own server: ceil(1 / (gamma c))
/// that verify drafts, as in the authors' program (dsi/configs/run/run.py), and one after the last known token.
/// Infinite for c = 0. [Timor2025]
[[nodiscard]] double max_target_servers(const OverlappedDrafting& drafting);

}  // namespace foredraft::analytic
