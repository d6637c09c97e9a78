// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/profile/cell.hpp"

/// Bytes and flop of one forward pass of any model on one device, operator by operator, in closed form. All predicted
/// times are computed from them. For models that can run (why_not_runnable), the counts equal those of their programs
/// (counts.hpp).
///
/// Bytes: weights that the operator reads, the part of the KV cache that it reads or writes, and activations between
/// operators. Latent attention is counted in its absorbed form, which engines use to decode: queries are projected into
/// the space of the cached vector, and every head attends over that vector. [DeepSeek2024]
///
/// Tensor parallelism divides heads, feed-forward widths, each expert, states of linear attention and the vocabulary.
/// Every device has a copy of norms, the router, the projections of latent attention that all heads share, the latent
/// cache, the blocks of heads on a hidden state (Medusa) and, if there are fewer than devices, key-value heads.
/// Pipeline parallelism assigns layers to groups of devices, which a pass uses sequentially.
namespace foredraft::latency {

/// Maximum tokens for which llama.cpp multiplies weights of GGUF types on vector units; with more tokens it uses matrix
/// units (MMVQ_MAX_BATCH_SIZE of ggml-cuda).
inline constexpr std::int64_t max_vector_tokens = 8;

enum class OperatorKind { product, attention, other, all_reduce, all_gather, transfer };

template <>
struct WordsOf<OperatorKind> {
  static constexpr std::array<std::string_view, 6> list{"product",    "attention",  "other",
                                                        "all_reduce", "all_gather", "transfer"};
};

/// Parts of a drafting pass.
enum class StepPart {
  layers,
  inputs,      ///< embedding, hidden states of the target and their projection
  vocabulary,  ///< logits, and choosing tokens from them
};
inline constexpr std::size_t step_parts = 3;

/// A group of identical operators of a forward pass.
struct StepOperator {
  std::string_view name;  ///< "qkv", "attention", "experts", "vocabulary", "all-reduce", ...
  OperatorKind kind = OperatorKind::other;
  NumberFormat compute = NumberFormat::bf16;  ///< format that determines the matrix peak
  double count = 1.0;
  double bytes = 0.0;         ///< read and written by one operator on one device; communication: of the whole tensor
  double flop = 0.0;          ///< of one operator on one device
  double inputs = 0.0;        ///< inputs per output of a product; 0 for other operators
  double vector_flop = 0.0;   ///< flop on vector units, if used for up to max_vector_tokens tokens
  double reread_bytes = 0.0;  ///< attention: additional bytes if each query reads the KV cache separately
  StepPart part = StepPart::layers;
};

/// Size of a forward pass. `tokens`: new tokens per sequence (drafting: gamma; encoder: 0).
struct ForwardPassPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
  bool prompt = false;  ///< decoder pass: prefill, which needs only the last logits and states of each sequence
};

/// The operators of one kind of forward pass of a deployed model at any size. A value type.
class ForwardPassOperations {
 public:
  /// `source_length`: positions of the encoder's output; 0: the shape's default. Throws DomainError for an invalid
  /// shape, a role that it does not support and a tensor parallelism that does not divide the heads.
  ForwardPassOperations(ModelShape shape, Role role, const Deployment& deployment, std::int64_t source_length = 0);

  /// Consecutive forward passes: gamma of autoregressive drafting, else one.
  [[nodiscard]] std::int64_t passes(const ForwardPassPoint& point) const;

  /// The operators of pass `pass` (from 0), with logits of every new token; drafting also chooses tokens.
  ///
  /// In autoregressive drafting each draft reads the cache of earlier drafts, and a head reads its own hidden states
  /// from the second draft on. The tokens of a block see each other. [Xia2023] A block head (DFlash) also stores keys
  /// and values of the hidden states of gamma + 1 verified tokens, and has logits only for drafts; its decoder_pass
  /// only stores keys and values. Heads on a hidden state (Medusa) are gamma blocks, each with a vocabulary projection.
  /// [Cai2024, Sec. 2.1.1] A window of w positions reads at most w + tokens - 1 entries of the KV cache. Linear
  /// attention reads its state and writes one state per new token, so that a verification can be rolled back.
  ///
  /// Throws DomainError for no sequence, no token, a negative context and positions beyond the model's maximum.
  [[nodiscard]] std::vector<StepOperator> operators(const ForwardPassPoint& point, std::int64_t pass = 0) const;

  /// The operators of one decoder pass over `decoding` that also prefills `prompt`: products over all tokens, attention
  /// of both, and logits of `decoding`. Requires Role::decoder_pass. Throws like operators().
  [[nodiscard]] std::vector<StepOperator> mixed(const ForwardPassPoint& decoding, ForwardPassPoint prompt) const;

  /// Rows of the pass's matrix products: batch times tokens, or batch if tokens are drafted autoregressively or by
  /// heads.
  [[nodiscard]] double rows(const ForwardPassPoint& point) const;

  /// Devices that share each layer.
  [[nodiscard]] std::int64_t devices() const { return deployment_.tensor_parallel; }

  /// Smallest and largest bytes of a matrix product over one token.
  [[nodiscard]] Interval product_bytes() const;

 private:
  void check(const ForwardPassPoint& point) const;

  ModelShape shape_;
  Role role_;
  Deployment deployment_;
};

/// Number of operators of a decode step.
[[nodiscard]] double operators_of_step(const ModelShape& shape, const Deployment& deployment);

/// Merges operators that differ only in name and count, at the position of the first.
[[nodiscard]] std::vector<StepOperator> equal_together(std::vector<StepOperator> operators);

/// Time in us of all passes at a point: the sum of count * us(operator) over all operators.
template <typename Us>
[[nodiscard]] double sum_us(const ForwardPassOperations& operations, const ForwardPassPoint& point, const Us& us) {
  double sum = 0.0;
  for (std::int64_t pass = 0; pass < operations.passes(point); ++pass) {
    for (const StepOperator& one : equal_together(operations.operators(point, pass))) sum += one.count * us(one);
  }
  return sum;
}

/// Number of different experts that `rows` tokens use. skew 0: count (1 - (1 - per_token/count)^rows), for independent
/// uniform routing, an upper bound; 1: per_token, all tokens share their experts; linear in between.
[[nodiscard]] double experts_read(const Experts& experts, double rows, double skew);

}  // namespace foredraft::latency
