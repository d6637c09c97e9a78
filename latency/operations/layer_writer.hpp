// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/models/model_shape.hpp"
#include "latency/operations/program_builder.hpp"

namespace foredraft::latency {

/// The tokens that a stack of layers runs over. Counts are per sequence.
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
/// share one working space: "stream" holds the residual stream, "delta" what the next norm adds to it, "normed" its
/// result.
class LayerWriter {
 public:
  /// `prefix` of the names of weights and caches: "" or "encoder ".
  LayerWriter(ProgramBuilder& builder, const ModelShape& shape, std::string prefix, LayerRun run);

  /// rows x width working space of this run.
  BufferId working_space(const std::string& name, std::int64_t width);

  /// Embeds token ids into `out`, positions added where the model learns or computes them.
  void embed(BufferId token_ids, BufferId out);

  /// out (+)= in * weight^T, weight named `name`.
  void project(const std::string& name, BufferId in, BufferId out, std::int64_t outputs, std::int64_t inputs, bool bias,
               bool accumulate = false);

  /// Norm of the stream, after the sum with `delta` where given; returns "normed".
  BufferId normalise(const std::string& name, BufferId delta);

  /// All layers and the norm behind them; returns "normed".
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

}  // namespace foredraft::latency
