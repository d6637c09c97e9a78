// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/models/model_shape.hpp"

namespace foredraft::latency::tests {

/// Small enough to count by hand: 2 layers, d_model 8, 4 heads of 2, grouped by two, d_ff 12, 10 tokens.
inline ModelShape tiny_decoder() {
  ModelShape shape;
  shape.name = "tiny decoder";
  shape.layers = 2;
  shape.d_model = 8;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 2;
  shape.d_ff = 12;
  shape.gated = true;
  shape.vocabulary = 10;
  return shape;
}

inline ModelShape tiny_normed_decoder() {
  ModelShape shape = tiny_decoder();
  shape.name = "tiny decoder with norms of heads";
  shape.query_key_norm = true;
  return shape;
}

/// With biases, layer norms and learned positions, so that it has every optional buffer.
inline ModelShape tiny_encoder_decoder() {
  ModelShape shape = tiny_decoder();
  shape.name = "tiny encoder_decoder";
  shape.architecture = Architecture::encoder_decoder;
  shape.encoder_layers = 1;
  shape.kv_heads = 4;
  shape.gated = false;
  shape.tied = true;
  shape.attention_bias = true;
  shape.bias = true;
  shape.norm = Norm::layer;
  shape.activation = Activation::gelu;
  shape.positions = Positions::learned;
  shape.learned_positions = 16;
  shape.source_length = 5;
  return shape;
}

inline ModelShape tiny_head() {
  ModelShape shape = tiny_decoder();
  shape.name = "tiny head";
  shape.architecture = Architecture::head;
  shape.layers = 1;
  return shape;
}

}  // namespace foredraft::latency::tests
