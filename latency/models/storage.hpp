// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "latency/words.hpp"

/// How a model is stored and split over devices.
namespace foredraft::latency {

/// Storage formats. int4 has groups of 128 with an fp16 scale (AWQ, GPTQ), nvfp4 groups of 16 with an fp8 scale, mxfp4
/// groups of 32 with an 8-bit exponent. From q8_0 on: llama.cpp's types (ggml-common.h), with blocks of 32 or 256
/// values and scales.
enum class NumberFormat {
  fp32,
  bf16,
  fp16,
  fp8,
  int8,
  int4,
  nvfp4,
  mxfp4,
  q8_0,
  q6_k,
  q5_k,
  q5_1,
  q5_0,
  q4_k,
  q4_1,
  q4_0,
  iq4_nl,
  iq4_xs,
  q3_k,
  iq3_s,
  iq3_xxs,
  q2_k,
  iq2_s,
  iq2_xs,
  iq2_xxs,
  iq1_m,
  iq1_s,
  tq2_0,
  tq1_0
};

template <>
struct WordsOf<NumberFormat> {
  static constexpr std::array<std::string_view, 29> list{
      "fp32",    "bf16", "fp16",  "fp8",    "int8",    "int4",  "nvfp4",  "mxfp4",  "q8_0", "q6_k",
      "q5_k",    "q5_1", "q5_0",  "q4_k",   "q4_1",    "q4_0",  "iq4_nl", "iq4_xs", "q3_k", "iq3_s",
      "iq3_xxs", "q2_k", "iq2_s", "iq2_xs", "iq2_xxs", "iq1_m", "iq1_s",  "tq2_0",  "tq1_0"};
};

/// All formats, in the order of the enumeration.
[[nodiscard]] const std::vector<NumberFormat>& number_formats();

/// The format named "fp16", or by an alias of engines and checkpoints ("float16", "half", "awq", "w4a16", ...); nullopt
/// for other words.
[[nodiscard]] std::optional<NumberFormat> number_format(std::string_view word);

/// Bits per value including scales: 16 for bf16, 4.125 for int4, 4.5 for nvfp4, 6.5625 for q6_k.
[[nodiscard]] double bits_of(NumberFormat format);

/// True for types of GGUF files, which llama.cpp multiplies with its own kernels.
[[nodiscard]] inline bool is_gguf(NumberFormat format) { return format >= NumberFormat::q8_0; }

/// The format whose matrix peak applies to products of weights in `format`. Weight-only formats (int4) compute in bf16.
/// llama.cpp's types compute in int8, to which it quantizes activations, but attain the speed of bf16: 64 of 71 TFLOP/s
/// on an RTX 3090, 155 of 165 on an RTX 4090 [ggml-org/llama.cpp#8278, #7676].
[[nodiscard]] NumberFormat compute_format(NumberFormat format);

/// Format of activations, norms and router, and by default of embedding and vocabulary projection, for matrices in
/// `weights`: the same for fp32 and fp16, else bf16.
[[nodiscard]] NumberFormat unquantized_format(NumberFormat weights);

/// Default format of a KV cache: the weights' format, or bf16 if that has fewer than 16 bits.
[[nodiscard]] NumberFormat default_cache_format(NumberFormat weights);

/// Parts of a model that may have different formats.
enum class ModelPart {
  attention,         ///< projections and indexers of softmax attention
  linear_attention,  ///< projections of layers with a state
  feed_forward,      ///< dense blocks; projections to and from the experts' dimension
  shared_experts,
  experts,     ///< routed experts
  inputs,      ///< of a head: projections of embedding and hidden states
  embedding,   ///< the table
  vocabulary,  ///< projection; if tied, also the embedding table
};
inline constexpr std::size_t model_parts = 8;

template <>
struct WordsOf<ModelPart> {
  static constexpr std::array<std::string_view, model_parts> list{"attention",      "linear attention", "feed-forward",
                                                                  "shared experts", "experts",          "inputs",
                                                                  "embedding",      "vocabulary"};
};

/// The weights of one part.
struct WeightFormat {
  NumberFormat format = NumberFormat::bf16;  ///< format of most weights; determines the format of computation
  double bits = 16.0;                        ///< mean bits per weight, including scales
  bool operator==(const WeightFormat&) const = default;
};
[[nodiscard]] WeightFormat weight_format(NumberFormat format);

/// The formats of all parts. A value type.
class WeightFormats {
 public:
  /// All matrices of layers in `layers`; embedding and vocabulary projection unquantized.
  WeightFormats(NumberFormat layers = NumberFormat::bf16);  // NOLINT(google-explicit-constructor): mostly a format
  explicit WeightFormats(const WeightFormat& layers);

  /// The name of the combination ("q4_k_m"); empty if it has none, and after set().
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] WeightFormats named(std::string name) const;
  [[nodiscard]] NumberFormat layers() const { return layers_.format; }  ///< format of most of the layers' weights
  [[nodiscard]] NumberFormat unquantized() const { return unquantized_format(layers_.format); }
  [[nodiscard]] const WeightFormat& of(ModelPart part) const { return parts_.at(static_cast<std::size_t>(part)); }
  void set(ModelPart part, const WeightFormat& format);

  bool operator==(const WeightFormats&) const = default;

 private:
  friend std::string to_text(const WeightFormats& formats);

  WeightFormat layers_;  ///< format of the parts that to_text() does not list
  std::array<WeightFormat, model_parts> parts_;
  std::string name_;
};

/// The formats that a word names: words of number_format; names with a group size such as int4_g32; llama.cpp's files
/// ("q4_k_m", "UD-Q4_K_XL"), which have more bits in some parts (llama-quant.cpp). The latter are means for attention
/// with at least 4 heads per key-value head and for files made with an importance matrix. nullopt for other words.
[[nodiscard]] std::optional<WeightFormats> weight_formats(std::string_view word);

/// All words of weight_formats() except aliases; number_formats() come first.
[[nodiscard]] const std::vector<std::string>& weight_format_words();

/// number_format() or weight_formats(), depending on `Format`.
template <typename Format>
[[nodiscard]] std::optional<Format> format_named(std::string_view word) {
  if constexpr (std::is_same_v<Format, NumberFormat>) {
    return number_format(word);
  } else {
    return weight_formats(word);
  }
}

/// True if any part has a type of GGUF files.
[[nodiscard]] bool has_gguf(const WeightFormats& formats);

/// "nvfp4; attention bf16, experts int4 of 4.5 bits": the name, or the format of the layers and the parts with other
/// formats.
[[nodiscard]] std::string to_text(const WeightFormats& formats);

struct Deployment {
  WeightFormats weights = {};
  NumberFormat kv_cache = NumberFormat::bf16;
  std::int64_t tensor_parallel = 1;    ///< devices that share each layer; divides the heads
  std::int64_t pipeline_parallel = 1;  ///< pipeline stages, each of tensor_parallel devices
  /// Of a mixture, in [0, 1]. 0: tokens choose experts independently; 1: all share them; empty: the measured value
  /// (Attainable::expert_skew), or 0 if no engine is assumed.
  std::optional<double> expert_skew = {};
  bool operator==(const Deployment&) const = default;
};

/// Number of devices of the model.
[[nodiscard]] inline std::int64_t devices_of(const Deployment& deployment) {
  return deployment.tensor_parallel * deployment.pipeline_parallel;
}

}  // namespace foredraft::latency
