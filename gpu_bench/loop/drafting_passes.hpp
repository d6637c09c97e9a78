// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/operations/passes.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::gpu_bench {

/// A part of drafting that ends where tokens are drawn.
struct DraftingPass {
  latency::Program program;  ///< its output: the logits, in a buffer that no other pass writes
  latency::BufferId drafts;  ///< where the tokens drawn from them go; a later pass may read it
  std::int64_t rows;         ///< of the logits: batch, or batch * gamma where all are drafted at once
  std::int64_t vocabulary;
};

/// The drafting programs of latency/operations/passes.hpp, cut where they pick tokens, the picking left out: a loop
/// draws instead. Token by token and by heads: gamma passes, each with logits [batch, vocabulary]. As a block: one with
/// [batch, gamma, vocabulary]. Buffers of equal name, kind and size are the same memory in all of them. What one pass
/// leaves to the next besides tokens (a head's hidden states) is a cache. Throws DomainError where
/// latency/operations/passes.hpp does.
[[nodiscard]] std::vector<DraftingPass> drafting_passes(const latency::ModelShape& shape, latency::Role drafting,
                                                        const latency::PassRequest& request, std::int64_t gamma);

}  // namespace foredraft::gpu_bench
