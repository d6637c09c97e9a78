// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"

/// The operators of one forward pass with their weights: what ForwardPassOperations times and model_bytes.hpp sums up.
/// Writing checks nothing.
namespace foredraft::latency {

/// Far beyond any pass; products of counts are floating-point numbers here.
inline constexpr std::int64_t largest_extent = 100'000'000;

/// Throws DomainError for an impossible shape, and a split or routing that it cannot have.
void check_deployment(const ModelShape& shape, const Deployment& deployment);

/// One forward pass over `tokens` new tokens of each of `batch` sequences with a context of `context` tokens.
struct StepPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
  bool own_hidden_states = false;  ///< for a head: it reads its own last output instead of the target's hidden states,
                                   ///< without the projection of several of them (EAGLE-3)
  std::int64_t drafts = 0;         ///< of each sequence: the tokens with logits; 0: all
  bool prompt = false;             ///< ForwardPassPoint::prompt
  std::int64_t verified = 0;       ///< tokens of each sequence whose hidden states a block of a head reads
};

/// The pass of a head that drafts a block of `drafts` tokens, after a verification of as many and one more. P-EAGLE
/// (wide_attention) takes the verified tokens through its layers, with a mask for each draft but the first; DFlash
/// stores keys and values of their hidden states and fills a block behind the last of them.
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
  Weights read = {};    ///< by a pass over these tokens, part of step.bytes; rows of tables do not count
  Weights stored = {};  ///< in memory: all experts, whole tables
  bool shared = false;  ///< with another model or pass, where it is stored
};

/// What is written of a pass.
enum class WrittenPass {
  decoder,         ///< layers and logits of every row
  drafting,        ///< the same, and the choice of a token by each logits
  block_drafting,  ///< the same, of tokens that see each other
  context,         ///< a head that fills a block takes in the hidden states of all tokens of the point, without logits
  head_drafting,   ///< one head on a hidden state: a residual block and a vocabulary projection
  encoder,         ///< over the point's tokens, whose keys and values are in no cache, and those of the cross-attention
};

[[nodiscard]] std::vector<WeightedOperator> write_pass(WrittenPass pass, const ModelShape& shape,
                                                       const Deployment& deployment, const StepPoint& point);

/// Of the key that an indexer keeps for an entry of the cache: values in fp8 with an fp32 scale for every 128 of them.
/// [DeepSeek2025]
[[nodiscard]] double index_key_bytes(std::int64_t index_dim);

inline constexpr double state_bytes = 4.0;  ///< of one element of a state of linear attention, kept in fp32

}  // namespace foredraft::latency
