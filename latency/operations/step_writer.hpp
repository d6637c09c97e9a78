// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"

/// The operators of one forward pass with their weights, used by ForwardPassOperations and model_bytes.hpp. Arguments
/// are not checked.
namespace foredraft::latency {

/// Larger than in any pass. Products of counts are computed in floating point.
inline constexpr std::int64_t largest_extent = 100'000'000;

/// Throws DomainError for an invalid shape, and for an invalid split or routing.
void check_deployment(const ModelShape& shape, const Deployment& deployment);

/// One forward pass over `tokens` new tokens of each of `batch` sequences with a context of `context` tokens.
struct StepPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
  bool own_hidden_states = false;  ///< for a head: reads its own last output instead of the target's hidden states,
                                   ///< without their projection (EAGLE-3)
  std::int64_t drafts = 0;         ///< tokens of each sequence with logits; 0: all
  bool prompt = false;             ///< ForwardPassPoint::prompt
  std::int64_t verified = 0;       ///< tokens of each sequence with hidden states that a block head reads
};

/// The pass of a block head that drafts `drafts` tokens after a verification of `drafts` + 1 tokens. P-EAGLE
/// (wide_attention) processes the verified tokens in its layers, with a mask token for each draft except the first.
/// DFlash stores keys and values of their hidden states and drafts a block after the last one.
[[nodiscard]] StepPoint block_point(const HeadInputs& head, std::int64_t batch, std::int64_t drafts,
                                    std::int64_t context);

struct Weights {
  double parameters = 0.0, bytes = 0.0;

  [[nodiscard]] Weights times(double factor) const { return {factor * parameters, factor * bytes}; }
  Weights& operator+=(const Weights& other) {
    parameters += other.parameters;
    bytes += other.bytes;
    return *this;
  }
};

/// An operator with its weights on one device.
struct WeightedOperator {
  StepOperator step;
  Weights read = {};    ///< read by the pass, included in step.bytes; without rows of tables
  Weights stored = {};  ///< in memory, including all experts and whole tables
  bool shared = false;  ///< stored by another model or pass
};

/// The kind of pass to write.
enum class WrittenPass {
  decoder,         ///< layers and logits of every row
  drafting,        ///< the same, and choosing a token for each row
  block_drafting,  ///< the same for tokens that see each other
  context,         ///< a block head stores keys and values of the hidden states of all tokens, without logits
  head_drafting,   ///< a head on a hidden state: a residual block and a vocabulary projection
  encoder,         ///< the encoder, without a cache, and keys and values of the cross-attention
};

[[nodiscard]] std::vector<WeightedOperator> write_pass(WrittenPass pass, const ModelShape& shape,
                                                       const Deployment& deployment, const StepPoint& point);

/// Bytes of an indexer's key of a cache entry: fp8 values with an fp32 scale per 128 values. [DeepSeek2025]
[[nodiscard]] double index_key_bytes(std::int64_t index_dim);

inline constexpr double state_bytes = 4.0;  ///< per state element of linear attention (fp32)

}  // namespace foredraft::latency
