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
/// mxfp4: of 32 with an 8-bit exponent.
enum class NumberFormat { fp32, bf16, fp16, fp8, int8, int4, nvfp4, mxfp4 };

template <>
struct WordsOf<NumberFormat> {
  static constexpr std::array<std::string_view, 8> list{"fp32", "bf16", "fp16",  "fp8",
                                                        "int8", "int4", "nvfp4", "mxfp4"};
};

/// All formats, in the order of the enumeration.
[[nodiscard]] const std::vector<NumberFormat>& number_formats();

/// The format of "fp16" and of the aliases of engines and checkpoints ("float16", "half", "awq", "w4a16", ...); nullopt
/// for other words.
[[nodiscard]] std::optional<NumberFormat> number_format(std::string_view word);

/// Bits per value, including its share of the scales: 16 for bf16, 4.125 for int4, 4.5 for nvfp4.
[[nodiscard]] double bits_of(NumberFormat format);

/// The format in which products of weights in `format` are computed: weight-only formats (int4) compute in bf16.
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
  embedding,   ///< the table; if tied, also the vocabulary projection
  vocabulary,  ///< projection
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
  bool gguf = false;   ///< of a GGUF type, which llama.cpp multiplies by kernels of its own
  bool operator==(const WeightFormat&) const = default;
};
[[nodiscard]] WeightFormat weight_format(NumberFormat format);

/// The weights of all parts. A value.
class WeightFormats {
 public:
  /// Every matrix of the layers in `layers`, the embedding and the vocabulary projection unquantized.
  WeightFormats(
      NumberFormat layers = NumberFormat::bf16);  // NOLINT(google-explicit-constructor): a format is the usual

  [[nodiscard]] NumberFormat layers() const { return layers_; }  ///< of most of the layers' weights; names the model's
  [[nodiscard]] NumberFormat unquantized() const { return unquantized_format(layers_); }
  [[nodiscard]] const WeightFormat& of(ModelPart part) const { return parts_.at(static_cast<std::size_t>(part)); }
  void set(ModelPart part, const WeightFormat& format) { parts_.at(static_cast<std::size_t>(part)) = format; }

  bool operator==(const WeightFormats&) const = default;

 private:
  NumberFormat layers_;
  std::array<WeightFormat, model_parts> parts_;
};

/// The formats that a word names: those of number_format; nullopt for other words.
[[nodiscard]] std::optional<WeightFormats> weight_formats(std::string_view word);

/// Either, by the type of what it is for.
template <typename Format>
[[nodiscard]] std::optional<Format> format_named(std::string_view word) {
  if constexpr (std::is_same_v<Format, NumberFormat>) {
    return number_format(word);
  } else {
    return weight_formats(word);
  }
}

/// "nvfp4; attention bf16, vocabulary 8.5 bits": that of the layers, and the parts that differ from what it implies.
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
