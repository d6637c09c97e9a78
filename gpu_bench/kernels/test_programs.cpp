// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/test_programs.hpp"

#include <cmath>

#include "latency/operations/forward_passes.hpp"

namespace foredraft::gpu_bench {
namespace {

latency::ModelShape small_decoder() {
  latency::ModelShape shape;
  shape.name = "small decoder";
  shape.architecture = latency::Architecture::decoder;
  shape.layers = 2;
  shape.d_model = 48;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 16;
  shape.d_ff = 80;
  shape.gated = true;
  shape.vocabulary = 131;
  return shape;
}

/// As small_decoder(), with heads that the matrix units take.
latency::ModelShape wide_heads(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  latency::ModelShape shape = small_decoder();
  shape.name = "wide heads";
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.head_dim = head_dim;
  return shape;
}

latency::ModelShape small_normed_decoder() {
  latency::ModelShape shape = small_decoder();
  shape.name = "small decoder with norms of heads";
  shape.query_key_norm = true;
  return shape;
}

latency::ModelShape small_encoder_decoder() {
  latency::ModelShape shape;
  shape.name = "small encoder-decoder";
  shape.architecture = latency::Architecture::encoder_decoder;
  shape.encoder_layers = 1;
  shape.layers = 2;
  shape.d_model = 36;
  shape.heads = 3;
  shape.kv_heads = 3;
  shape.head_dim = 12;
  shape.d_ff = 52;
  shape.vocabulary = 97;
  shape.attention_bias = true;
  shape.bias = true;
  shape.norm = latency::Norm::layer;
  shape.activation = latency::Activation::gelu;
  shape.positions = latency::Positions::learned;
  shape.learned_positions = 64;
  shape.source_length = 13;
  return shape;
}

}  // namespace

std::vector<TestProgram> test_programs() {
  const latency::ForwardPassRequest verification{.tokens = 5, .batch = 2, .context = 70};
  const latency::ForwardPassRequest one_token{.tokens = 1, .batch = 2, .context = 200};
  const latency::ForwardPassRequest short_context{.tokens = 5, .batch = 2, .context = 20};
  const latency::ForwardPassRequest encoding{.tokens = 1, .batch = 2, .context = 0};
  const latency::ModelShape decoder = small_decoder();
  const latency::ModelShape encoder_decoder = small_encoder_decoder();
  return {{"decoder, 5 tokens", latency::decoder_pass(decoder, verification), false},
          {"decoder, 5 tokens, 10 rows of 64", latency::decoder_pass(wide_heads(4, 2, 64), verification), false},
          {"decoder, 5 tokens, 20 rows of 128", latency::decoder_pass(wide_heads(4, 1, 128), verification), false},
          {"decoder, 5 tokens, 40 rows of 64", latency::decoder_pass(wide_heads(8, 1, 64), verification), false},
          {"decoder, 1 token", latency::decoder_pass(decoder, one_token), false},
          {"decoder with norms of heads, 5 tokens", latency::decoder_pass(small_normed_decoder(), verification), false},
          {"encoder-decoder, 5 tokens", latency::decoder_pass(encoder_decoder, short_context), false},
          {"encoder", latency::encoder_pass(encoder_decoder, encoding), false},
          {"drafting 3 tokens", latency::autoregressive_drafting(decoder, one_token, 3), true},
          {"3 heads", latency::head_drafting(decoder, one_token, 3), true}};
}

double allowed_error(latency::DataType type) {
  // The error of some tens of roundings to 16 bits grows like a random walk to a few roundings; kernels and products
  // compute in fp32, which adds nothing. If stored in fp32, each of about ten products in a row also rounds its sum of
  // up to 80 terms.
  constexpr double roundings_of_storage = 8.0;
  constexpr double roundings_of_sums = 64.0;
  switch (type) {
    case latency::DataType::fp16:
      return roundings_of_storage * 0x1.0p-11;
    case latency::DataType::bf16:
      return roundings_of_storage * 0x1.0p-8;
    case latency::DataType::fp32:
      break;
  }
  return roundings_of_sums * 0x1.0p-24;
}

double relative_error(const std::vector<double>& got, const std::vector<double>& want) {
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(difference / size);
}

}  // namespace foredraft::gpu_bench
