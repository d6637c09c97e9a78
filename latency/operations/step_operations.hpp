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

/// Bytes and flop of one forward pass of any model on one device, operator by operator, in closed form: every predicted
/// time follows from them. For models that can also run (why_not_runnable) the counts equal those of their programs
/// (counts.hpp).
///
/// Bytes: weights that the operator reads, the part of the KV cache that it reads or writes, activations as they pass
/// between operators. Latent attention is counted in its absorbed form, which engines use to decode: queries are
/// projected into the space of the cached vector, and every head attends over that vector. [DeepSeek2024]
///
/// Tensor parallelism divides heads, feed-forward widths, each expert, states of linear attention and the vocabulary.
/// Every device has a copy of norms, the router, the projections of latent attention that all heads share, the latent
/// cache, the blocks of heads on a hidden state (Medusa) and, if there are fewer than devices, key-value heads.
/// Pipeline parallelism gives groups of devices some of the layers each, which one pass goes through one after the
/// other.
namespace foredraft::latency {

/// llama.cpp multiplies weights of GGUF types with up to so many tokens on vector units, with more on matrix units
/// (MMVQ_MAX_BATCH_SIZE of ggml-cuda): the number where these are no slower.
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
  vocabulary,  ///< logits, and the choice of tokens from them
};
inline constexpr std::size_t step_parts = 3;

/// Equal operators of a forward pass.
struct StepOperator {
  std::string_view name;  ///< "qkv", "attention", "experts", "vocabulary", "all-reduce", ...
  OperatorKind kind = OperatorKind::other;
  NumberFormat compute = NumberFormat::bf16;  ///< decides the matrix peak
  double count = 1.0;
  double bytes = 0.0;        ///< read and written by one operator on one device; between devices: of the whole tensor
  double flop = 0.0;         ///< of one operator on one device
  double inputs = 0.0;       ///< summed for one output of a product; 0 for other operators
  double vector_flop = 0.0;  ///< of the product over at most max_vector_tokens tokens, if those leave matrix units idle
  double reread_bytes = 0.0;  ///< of attention: read besides, if each query reads the KV cache by itself
  StepPart part = StepPart::layers;
};

/// Sequences, new tokens of each (of drafting: gamma; of an encoder: 0), context length.
struct ForwardPassPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
  bool prompt = false;  ///< of a decoder pass: prefill, which needs the last logits and states of each sequence only
};

/// What one kind of forward pass of a model, stored and split in one way, costs at any size. A value.
class ForwardPassOperations {
 public:
  /// `source_length`: positions of the encoder's output; 0: the shape's. Throws DomainError for an impossible shape, a
  /// role that it does not have and a degree of tensor parallelism that does not divide the heads.
  ForwardPassOperations(ModelShape shape, Role role, const Deployment& deployment, std::int64_t source_length = 0);

  /// Consecutive forward passes: gamma of autoregressive drafting, else one.
  [[nodiscard]] std::int64_t passes(const ForwardPassPoint& point) const;

  /// The operators of one of these passes, counted from 0, with logits of every new token; drafting also chooses tokens
  /// from them.
  ///
  /// The draft of an autoregressive drafter reads the cache of those before it, and from the second on a head reads its
  /// own hidden states. The tokens of a block see each other. [Xia2023] A head that fills a block (DFlash) also stores
  /// keys and values of the hidden states of gamma + 1 verified tokens, and has logits of the drafts alone; its
  /// decoder_pass is that storing for given tokens. Heads on a hidden state (Medusa) are gamma
  /// blocks with a vocabulary projection each. [Cai2024, Sec. 2.1.1] A window of w positions reads at most w + tokens -
  /// 1 entries of the KV cache. Linear attention reads its state and writes one for each new token, so that a
  /// verification can be rolled back.
  ///
  /// Throws DomainError for no sequence, no token, a context below 0 and positions that the model does not have.
  [[nodiscard]] std::vector<StepOperator> operators(const ForwardPassPoint& point, std::int64_t pass = 0) const;

  /// The operators of one decoder pass over `decoding` that also reads `prompt`: products over all their tokens, the
  /// attention of each, and logits of `decoding`. Precondition: a decoder pass. Throws likewise.
  [[nodiscard]] std::vector<StepOperator> mixed(const ForwardPassPoint& decoding, ForwardPassPoint prompt) const;

  /// Rows of its matrix products: batch times tokens; batch if tokens are drafted autoregressively or by heads.
  [[nodiscard]] double rows(const ForwardPassPoint& point) const;

  /// That share each layer.
  [[nodiscard]] std::int64_t devices() const { return deployment_.tensor_parallel; }

  /// Smallest and largest bytes of a matrix product over one token.
  [[nodiscard]] Interval product_bytes() const;

 private:
  void check(const ForwardPassPoint& point) const;

  ModelShape shape_;
  Role role_;
  Deployment deployment_;
};

/// How many operators a decode step of a model has.
[[nodiscard]] double operators_of_step(const ModelShape& shape, const Deployment& deployment);

/// The same operators, those that differ only in name and count as one, in the place of the first.
[[nodiscard]] std::vector<StepOperator> equal_together(std::vector<StepOperator> operators);

/// Sum over the operators of all passes at a point: each is `us` of it, in us, as often as there are of it.
template <typename Us>
[[nodiscard]] double sum_us(const ForwardPassOperations& operations, const ForwardPassPoint& point, const Us& us) {
  double sum = 0.0;
  for (std::int64_t pass = 0; pass < operations.passes(point); ++pass) {
    for (const StepOperator& one : equal_together(operations.operators(point, pass))) sum += one.count * us(one);
  }
  return sum;
}

/// Number of experts of `count` that `rows` tokens read, `per_token` each. skew 0: count (1 - (1 -
/// per_token/count)^rows), independent uniform routing, an upper bound; 1: per_token, all tokens share their experts;
/// linear between.
[[nodiscard]] double experts_read(const Experts& experts, double rows, double skew);

}  // namespace foredraft::latency
