// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/reduce.hpp"
#include "gpu_bench/verify/verification.hpp"

namespace foredraft::gpu_bench {

/// The first i < count with holds(i), or count; every warp asks for itself, its lanes for neighbouring i.
template <class Block, class Predicate>
FOREDRAFT_HOST_DEVICE inline unsigned first_where(Block& block, unsigned count, const Predicate& holds) {
  unsigned first = count;
  for (unsigned i = block.thread() % warp_lanes; i < count; i += warp_lanes) {
    if (i < first && holds(i)) first = i;
  }
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) {
    const unsigned other = block.shuffle_xor(first, mask);
    first = other < first ? other : first;
  }
  return first;
}

/// How many drafts of a request there are to verify: those in front of the first that is no token.
template <class Storage, class Block>
FOREDRAFT_HOST_DEVICE inline unsigned draft_count(Block& block, const VerificationInput<Storage>& input,
                                                  unsigned request) {
  const std::int32_t* drafts = input.drafts + static_cast<std::int64_t>(request) * input.gamma;
  const auto count = static_cast<unsigned>(input.draft_counts[request]);
  // All of the row is read, not only `count` of it: one latency instead of two.
  const unsigned tokens = first_where(
      block, input.gamma, [&](unsigned i) { return static_cast<std::uint32_t>(drafts[i]) >= input.vocabulary; });
  return tokens < count ? tokens : count;
}

}  // namespace foredraft::gpu_bench
