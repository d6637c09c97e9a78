#pragma once

#include <cstdint>

#include "gpu_bench/step/program.hpp"

/// The passes whose times the cost models need.
namespace foredraft::gpu_bench {

/// What one pass is over. All counts are per sequence of the batch.
struct PassRequest {
  std::int64_t tokens = 1;  ///< new tokens: 1 plain, gamma + 1 verification
  std::int64_t batch = 1;
  std::int64_t context = 512;      ///< tokens already in the cache
  std::int64_t source_length = 0;  ///< encoder_decoder: positions of the encoder's output; 0: the shape's usual
};

/// One pass of the (decoder's) layers over `tokens` new tokens, logits for each of them.
[[nodiscard]] Program decoder_pass(const ModelShape& shape, const PassRequest& request);

/// gamma decoder passes one behind the other, each picking the token that the next one reads; context grows.
[[nodiscard]] Program autoregressive_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// One pass that drafts gamma tokens at once: queries see each other, and each position picks its token.
[[nodiscard]] Program block_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// gamma heads on the last hidden state of a target: each a residual block d_model x d_model and a vocabulary
/// projection (Medusa). [Cai2024, Sec. 2.1.1]
[[nodiscard]] Program head_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// The encoder over source_length positions, and the cross-attention keys and values of every decoder layer.
[[nodiscard]] Program encoder_pass(const ModelShape& shape, const PassRequest& request);

}  // namespace foredraft::gpu_bench
