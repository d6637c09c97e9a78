// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/operations/forward_passes.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::gpu_bench {

/// A part of drafting that ends where tokens are sampled.
struct DraftingPass {
  latency::Program program;  ///< its output: the logits, in a buffer that no other pass writes
  latency::BufferId drafts;  ///< buffer for the tokens sampled from them; a later pass may read it
  std::int64_t rows;         ///< of the logits: batch, or batch * gamma if all are drafted at once
  std::int64_t vocabulary;
};

/// The drafting programs of latency/operations/forward_passes.hpp, divided where they choose tokens, without the
/// choosing: a loop samples instead. Autoregressive and heads: gamma passes, each with logits [batch, vocabulary].
/// Block: one with [batch, gamma, vocabulary]. Buffers of equal name, kind and size are the same memory in all of them.
/// State that one pass leaves to the next besides tokens (a head's hidden states) is a cache. Throws DomainError as
/// latency/operations/forward_passes.hpp does.
[[nodiscard]] std::vector<DraftingPass> drafting_passes(const latency::ModelShape& shape, latency::Role drafting,
                                                        const latency::ForwardPassRequest& request, std::int64_t gamma);

}  // namespace foredraft::gpu_bench
