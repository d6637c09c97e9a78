// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Shapes of language models: what decides the cost of a pass, and nothing of the weights' values.
namespace foredraft::latency {

enum class Architecture {
  decoder,          ///< decoder-only
  encoder_decoder,  ///< with cross-attention to an encoder's output
  head,             ///< layers on top of a target's hidden states, with the target's embedding and vocabulary (EAGLE)
};
enum class Norm { rms, layer };              ///< root mean square; mean and variance
enum class Activation { silu, gelu, relu };  ///< of the feed-forward block; gelu by the error function
/// relative_bias (T5): the bias table is a parameter, but its look-up and sum are left out of the passes.
enum class Positions { rotary, learned, sinusoidal, relative_bias };

/// One model. Names follow the papers' and checkpoints' own: d_model, d_ff, kv_heads.
struct ModelShape {
  std::string name;     ///< "qwen1.5-7b"; unique
  std::string summary;  ///< one line: what it is
  std::string source;   ///< where the numbers stand
  Architecture architecture = Architecture::decoder;
  std::int64_t encoder_layers = 0;
  std::int64_t layers = 0;  ///< of the decoder
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< heads for multi-head, fewer for grouped, 1 for multi-query attention
  std::int64_t head_dim = 0;  ///< heads * head_dim may differ from d_model
  std::int64_t d_ff = 0;
  bool gated = false;  ///< two input projections, one of them a gate
  std::int64_t vocabulary = 0;
  bool tied = false;            ///< vocabulary projection = embedding
  bool attention_bias = false;  ///< query, key and value projections have one
  bool bias = false;            ///< attention output and feed-forward projections have one; the vocabulary's never
  Norm norm = Norm::rms;
  Activation activation = Activation::silu;
  Positions positions = Positions::rotary;
  std::int64_t learned_positions = 0;          ///< rows of the decoder's position table
  std::int64_t source_length = 0;              ///< encoder positions of a usual input; encoder_decoder only
  std::int64_t further_parameters = 0;         ///< convolutions and the like, outside what is timed
  std::optional<double> published_parameters;  ///< as the source prints them ...
  double published_rounding = 0.0;             ///< ... known to +- this; 0: printed to the last parameter
};

[[nodiscard]] std::string_view to_string(Architecture architecture);
[[nodiscard]] std::string_view to_string(Activation activation);

/// One thing that is wrong with a shape, under the name of the member.
struct ShapeProblem {
  std::string key;
  std::string text;
  std::string why;
};

/// Every dimension that is not positive (or beyond 10 million), heads that kv_heads does not divide, an encoder
/// without encoder_decoder and the like.
[[nodiscard]] std::vector<ShapeProblem> shape_problems(const ModelShape& shape);

/// Throws DomainError that names all of them.
void check_shape(const ModelShape& shape);

}  // namespace foredraft::latency
