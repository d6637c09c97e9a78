// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// How a model is stored and split: nothing of its shape.
namespace foredraft::latency {

/// How numbers are stored. int4: groups of 128 with an fp16 scale (AWQ, GPTQ); nvfp4: of 16 with an fp8 scale; mxfp4:
/// of 32 with an 8-bit exponent.
enum class NumberFormat { fp32, bf16, fp16, fp8, int8, int4, nvfp4, mxfp4 };

[[nodiscard]] std::string_view to_string(NumberFormat format);

/// All of them, in the order of the enumeration.
[[nodiscard]] const std::vector<NumberFormat>& number_formats();

/// "fp16" and what engines and checkpoints call it ("float16", "half", "awq", "w4a16", ...); nothing for other words.
[[nodiscard]] std::optional<NumberFormat> number_format(std::string_view word);

/// Of one value, its share of scales included: 16 for bf16, 4.125 for int4, 4.5 for nvfp4.
[[nodiscard]] double bits_of(NumberFormat format);

/// The format that products of weights in `format` are computed in: weight-only formats (int4) compute in bf16.
[[nodiscard]] NumberFormat compute_format(NumberFormat format);

/// Of activations, norms, embedding, vocabulary projection and router beside matrices in `weights`: fp32 or fp16 where
/// the matrices are, else bf16.
[[nodiscard]] NumberFormat unquantized_format(NumberFormat weights);

/// Of a KV cache where nothing is said: that of the weights, bf16 where these are narrower than 16 bits.
[[nodiscard]] NumberFormat usual_cache_format(NumberFormat weights);

struct Deployment {
  NumberFormat weights = NumberFormat::bf16;  ///< of the layers' matrices; all else is in unquantized_format of it
  NumberFormat kv_cache = NumberFormat::bf16;
  std::int64_t tensor_parallel = 1;  ///< devices that share each layer; divides the heads
  double expert_skew = 0.0;          ///< in [0, 1]: 0 each token draws its experts independently, 1 all share them
  bool operator==(const Deployment&) const = default;
};

}  // namespace foredraft::latency
