// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/parallel.hpp"
#include "foredraft/models.hpp"
#include "foredraft/quantities.hpp"

namespace foredraft::sim {

/// Upper bound of the drafts that any lossless rule accepts of one draft of `gamma` tokens: sum over i of 1 minus the
/// total variation distance of the joint distributions of i tokens, E[min(1, prod p / q)] over drafts. It holds because
/// accepted drafts are emitted, and no coupling of two distributions agrees more often. Estimated from `paths` random
/// paths with a random context at every position. Throws DomainError for gamma < 1 and fewer than two paths,
/// Interrupted when stopped.
[[nodiscard]] Estimate joint_overlap(const GivenDistributions& contexts, std::int64_t gamma, std::uint64_t paths,
                                     std::uint64_t seed, StopToken stop = {});

}  // namespace foredraft::sim
