// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/overlap.hpp"
#include "foredraft/quantities.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Speedup over autoregressive decoding, simulated in virtual time. A run extends from the token after a rejected draft
/// to the next such token. If nothing overlaps (Overlap::none, or dsi on a shared device), it is an iteration. Throws
/// DomainError for values outside of the ranges of OverlappedDrafting, for alpha = 1 (a run never ends) and for fewer
/// than two runs; Interrupted when stopped.
[[nodiscard]] Estimate overlapped_speedup(const OverlappedDrafting& drafting, std::uint64_t runs, const RunKey& key);

}  // namespace foredraft::sim
