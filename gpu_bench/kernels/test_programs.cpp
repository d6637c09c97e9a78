// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/test_programs.hpp"

#include <cmath>

#include "gpu_bench/step/passes.hpp"

namespace foredraft::gpu_bench {
namespace {

ModelShape small_decoder() {
  ModelShape shape;
  shape.name = "small decoder";
  shape.architecture = Architecture::decoder;
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

ModelShape small_encoder_decoder() {
  ModelShape shape;
  shape.name = "small encoder-decoder";
  shape.architecture = Architecture::encoder_decoder;
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
  shape.norm = Norm::layer;
  shape.activation = Activation::gelu;
  shape.positions = Positions::learned;
  shape.learned_positions = 64;
  shape.source_length = 13;
  return shape;
}

}  // namespace

std::vector<TestProgram> test_programs() {
  const PassRequest verification{.tokens = 5, .batch = 2, .context = 70};
  const PassRequest one_token{.tokens = 1, .batch = 2, .context = 200};
  const PassRequest short_context{.tokens = 5, .batch = 2, .context = 20};
  const PassRequest encoding{.tokens = 1, .batch = 2, .context = 0};
  const ModelShape decoder = small_decoder();
  const ModelShape encoder_decoder = small_encoder_decoder();
  return {{"decoder, 5 tokens", decoder_pass(decoder, verification), false},
          {"decoder, 1 token", decoder_pass(decoder, one_token), false},
          {"encoder-decoder, 5 tokens", decoder_pass(encoder_decoder, short_context), false},
          {"encoder", encoder_pass(encoder_decoder, encoding), false},
          {"drafting 3 tokens", autoregressive_drafting(decoder, one_token, 3), true},
          {"3 heads", head_drafting(decoder, one_token, 3), true}};
}

double allowed_error(DataType type) {
  // Some tens of roundings to 16 bits add up like a random walk to a few of them; kernels and products compute in fp32,
  // which adds nothing there. Stored in fp32, each of some ten products in a row rounds its sum of up to 80 terms too.
  constexpr double roundings_of_storage = 8.0;
  constexpr double roundings_of_sums = 64.0;
  switch (type) {
    case DataType::fp16:
      return roundings_of_storage * 0x1.0p-11;
    case DataType::bf16:
      return roundings_of_storage * 0x1.0p-8;
    case DataType::fp32:
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
