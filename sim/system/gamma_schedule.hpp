// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/words.hpp"

namespace foredraft::sim {

/// The longest draft of a server.
inline constexpr std::int64_t max_serving_gamma = 10'000;

/// Drafted tokens per iteration while the batch has so many rows.
struct GammaRange {
  std::int64_t from_batch;
  std::int64_t to_batch;  ///< inclusive
  std::int64_t gamma;     ///< 0: plain decoding, with a bonus token alone
};

/// gamma at [batch], for batches 1 to max_batch; [0] is that of batch 1. Throws DomainError unless the ranges start at
/// 1, follow each other without gap or overlap, reach max_batch, and hold legal gammas of at most max_serving_gamma.
[[nodiscard]] std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                                       Convention convention);

}  // namespace foredraft::sim
