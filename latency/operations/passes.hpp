// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "latency/models/model_shape.hpp"
#include "latency/operations/program.hpp"

/// The forward passes whose times the cost models need. All throw DomainError for an impossible shape or request:
/// counts below their minimum, positions beyond a learned table or a sliding window, a source without an encoder, and
/// for a shape that cannot be run (why_not_runnable).
namespace foredraft::latency {

/// Size of one forward pass. All counts are per sequence of the batch.
struct PassRequest {
  std::int64_t tokens =
      1;  ///< new tokens: 1 in a decode step, gamma + 1 in verification; drafting takes 1, gamma counts its drafts
  std::int64_t batch = 1;
  std::int64_t context = 512;      ///< tokens already in the cache
  std::int64_t source_length = 0;  ///< encoder_decoder: positions of the encoder's output; 0: the shape's default
};

/// One forward pass of the (decoder's) layers over `tokens` new tokens, with logits for each of them. A head (EAGLE)
/// reads the token's embedding and a hidden state of the target, both projected to d_model, and ends in the target's
/// vocabulary. [Li2024]
[[nodiscard]] Program decoder_pass(const ModelShape& shape, const PassRequest& request);

/// gamma decoder passes one after the other over the same weights; each chooses the token that the next one reads, and
/// the context grows. After its first pass a head reads its own hidden state.
[[nodiscard]] Program autoregressive_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// One pass that drafts gamma tokens at once: queries see each other, and each position chooses its token. [Xia2023]
[[nodiscard]] Program block_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// gamma heads on the last hidden state of a target: each is a residual block d_model x d_model and a vocabulary
/// projection. The residual sum is an AddNormalise, whose norm Medusa does not have; it adds neither bytes nor
/// launches. [Cai2024, Sec. 2.1.1]
[[nodiscard]] Program head_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// The encoder over source_length positions, and the cross-attention keys and values of every decoder layer. Its input
/// is embedded from token ids; for Whisper the embedded rows replace the output of its convolutions.
[[nodiscard]] Program encoder_pass(const ModelShape& shape, const PassRequest& request);

/// Throws DomainError for counts that no pass of the shape can have. `last_position`: number of tokens of context and
/// pass.
void check_request(const ModelShape& shape, const PassRequest& request, std::int64_t last_position);

/// The same for drafting gamma tokens.
void check_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// Positions of the encoder's output; 0 without an encoder.
[[nodiscard]] std::int64_t source_length(const ModelShape& shape, const PassRequest& request);

/// The tokens that a stack of layers processes. Counts are per sequence.
struct LayerRun {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t context;   ///< entries of the caches before this run
  std::int64_t capacity;  ///< of the caches
  bool causal;
  std::int64_t source_length;  ///< of the cross-attention; 0: none
};

/// Writes transformer layers into a program: norms before the blocks, the residual sum fused into the next norm,
/// queries, keys and values in one projection, gate and input of a gated feed-forward block in another. All layers
/// share one workspace: "stream" holds the residual stream, "delta" what the next norm adds to it, "normed" its result.
class LayerWriter {
 public:
  /// `prefix` of the names of weights and caches: "" or "encoder ".
  LayerWriter(ProgramBuilder& builder, const ModelShape& shape, std::string prefix, LayerRun run);

  /// rows x width workspace of this run.
  BufferId working_space(const std::string& name, std::int64_t width);

  /// Embeds token ids into `out`, adding positions if the model learns or computes them.
  void embed(BufferId token_ids, BufferId out);

  /// out (+)= in * weight^T, weight named `name`.
  void project(const std::string& name, BufferId in, BufferId out, std::int64_t outputs, std::int64_t inputs, bool bias,
               bool accumulate = false);

  /// Norm of the stream, after adding `delta` if given; returns "normed".
  BufferId normalise(const std::string& name, BufferId delta);

  /// All layers and the final norm; returns "normed".
  BufferId write_layers(std::int64_t layers);

  /// Keys and values of the cross-attention of every decoder layer, from the encoder's output.
  void write_cross_caches(std::int64_t layers, BufferId memory);

  /// Vocabulary projection of `in`; returns "logits".
  BufferId write_logits(BufferId in);

 private:
  BufferId write_self_attention(const std::string& layer, BufferId delta);
  BufferId write_cross_attention(const std::string& layer, BufferId delta);
  BufferId write_feed_forward(const std::string& layer, BufferId delta);
  void attend(BufferId queries, BufferId keys, BufferId values, std::int64_t query_stride, std::int64_t length,
              std::int64_t capacity, bool causal);
  [[nodiscard]] std::int64_t rows() const { return run_.batch * run_.tokens; }
  BufferId embedding();

  ProgramBuilder* builder_;
  const ModelShape* shape_;
  std::string prefix_;
  LayerRun run_;
};

/// Buffers that one decoder pass leaves in the program.
struct DecoderOutput {
  BufferId hidden;  ///< after the final norm
  BufferId logits;
};

/// Writes one pass over `token_ids`. `hidden`: a head's hidden states, rows x d_model; else no_buffer.
[[nodiscard]] DecoderOutput write_decoder_pass(ProgramBuilder& builder, const ModelShape& shape, const LayerRun& run,
                                               BufferId token_ids, BufferId hidden);

/// The hidden states that a head reads first, written by the target. no_buffer for other architectures.
[[nodiscard]] BufferId target_hidden_states(ProgramBuilder& builder, const ModelShape& shape, std::int64_t rows);

}  // namespace foredraft::latency
