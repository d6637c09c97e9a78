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

/// How a model is stored and split, whatever its shape.
namespace foredraft::latency {

/// Number formats of storage. int4: groups of 128 with an fp16 scale (AWQ, GPTQ); nvfp4: of 16 with an fp8 scale;
/// mxfp4: of 32 with an 8-bit exponent. From q8_0 on: the types of llama.cpp (ggml-common.h), whose blocks of 32 or 256
/// values have scales of their own.
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

/// The format of "fp16" and of the aliases of engines and checkpoints ("float16", "half", "awq", "w4a16", ...); nullopt
/// for other words.
[[nodiscard]] std::optional<NumberFormat> number_format(std::string_view word);

/// Bits per value, including its share of the scales: 16 for bf16, 4.125 for int4, 4.5 for nvfp4, 6.5625 for q6_k.
[[nodiscard]] double bits_of(NumberFormat format);

/// A type of GGUF files, which llama.cpp multiplies by kernels of its own.
[[nodiscard]] inline bool is_gguf(NumberFormat format) { return format >= NumberFormat::q8_0; }

/// The format whose matrix peak decides how long products of weights in `format` compute: weight-only formats (int4)
/// compute in bf16. Those of llama.cpp compute in int8, to which it quantizes activations, but reach what bf16 would:
/// 64 of 71 TFLOP/s on an RTX 3090, 155 of 165 on an RTX 4090 [ggml-org/llama.cpp#8278, #7676].
[[nodiscard]] NumberFormat compute_format(NumberFormat format);

/// Format of activations, norms and router, and by default of embedding and vocabulary projection, if the matrices are
/// in `weights`: the same for fp32 and fp16, else bf16.
[[nodiscard]] NumberFormat unquantized_format(NumberFormat weights);

/// Default format of a KV cache: that of the weights, bf16 if these have fewer than 16 bits.
[[nodiscard]] NumberFormat default_cache_format(NumberFormat weights);

/// Parts of a model that a checkpoint stores in formats of their own.
enum class ModelPart {
  attention,         ///< projections of softmax attention, its indexers included
  linear_attention,  ///< projections of layers with a state
  feed_forward,      ///< dense blocks; projections to and from the space of the experts
  shared_experts,
  experts,     ///< routed ones
  inputs,      ///< of a head: from the embedding and the hidden states
  embedding,   ///< the table
  vocabulary,  ///< projection; if tied, also the embedding's table
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
  NumberFormat format = NumberFormat::bf16;  ///< decides in what their products are computed; of most of the part
  double bits = 16.0;  ///< of a weight, scales included; the mean where layers differ in format or in size of groups
  bool operator==(const WeightFormat&) const = default;
};
[[nodiscard]] WeightFormat weight_format(NumberFormat format);

/// The weights of all parts. A value.
class WeightFormats {
 public:
  /// Every matrix of the layers in `layers`, the embedding and the vocabulary projection unquantized.
  WeightFormats(
      NumberFormat layers = NumberFormat::bf16);  // NOLINT(google-explicit-constructor): a format is the usual
  explicit WeightFormats(const WeightFormat& layers);

  /// The word that stands for all parts ("q4_k_m"); empty if there is none, and after set().
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] WeightFormats named(std::string name) const;
  [[nodiscard]] NumberFormat layers() const { return layers_.format; }  ///< of most of the layers' weights
  [[nodiscard]] NumberFormat unquantized() const { return unquantized_format(layers_.format); }
  [[nodiscard]] const WeightFormat& of(ModelPart part) const { return parts_.at(static_cast<std::size_t>(part)); }
  void set(ModelPart part, const WeightFormat& format);

  bool operator==(const WeightFormats&) const = default;

 private:
  friend std::string to_text(const WeightFormats& formats);

  WeightFormat layers_;  ///< which the parts imply that to_text() does not list
  std::array<WeightFormat, model_parts> parts_;
  std::string name_;
};

/// The formats that a word names: those of number_format; int4_g32 and others by the size of groups; the files of
/// llama.cpp ("q4_k_m", "UD-Q4_K_XL"), which keep some parts in more bits (llama-quant.cpp). These are means: of
/// attention with 4 or more heads to a key-value head, of files made with an importance matrix. Nullopt for other
/// words.
[[nodiscard]] std::optional<WeightFormats> weight_formats(std::string_view word);

/// All words of weight_formats() but aliases, those of number_formats() first.
[[nodiscard]] const std::vector<std::string>& weight_format_words();

/// Either, by the type of what it is for.
template <typename Format>
[[nodiscard]] std::optional<Format> format_named(std::string_view word) {
  if constexpr (std::is_same_v<Format, NumberFormat>) {
    return number_format(word);
  } else {
    return weight_formats(word);
  }
}

/// Whether any part is of a type of GGUF files.
[[nodiscard]] bool has_gguf(const WeightFormats& formats);

/// "nvfp4; attention bf16, experts int4 of 4.5 bits": the name, or the format of the layers and the parts that differ
/// from what it implies.
[[nodiscard]] std::string to_text(const WeightFormats& formats);

struct Deployment {
  WeightFormats weights = {};
  NumberFormat kv_cache = NumberFormat::bf16;
  std::int64_t tensor_parallel = 1;    ///< devices that share each layer; divides the heads
  std::int64_t pipeline_parallel = 1;  ///< groups of such devices, each with some of the layers, one after the other
  /// Of a mixture, in [0, 1]: 0 each token draws its experts independently, 1 all share them; empty: as was measured
  /// (Attainable::expert_skew), independently where no engine is assumed.
  std::optional<double> expert_skew = {};
  bool operator==(const Deployment&) const = default;
};

/// That hold the model.
[[nodiscard]] inline std::int64_t devices_of(const Deployment& deployment) {
  return deployment.tensor_parallel * deployment.pipeline_parallel;
}

}  // namespace foredraft::latency
