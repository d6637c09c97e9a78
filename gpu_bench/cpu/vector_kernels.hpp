// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gpu_bench/verify/online_softmax.hpp"
#include "latency/models/model_shape.hpp"

/// The bulk work of a forward pass and of a verification on a CPU: fp32, on the widest vectors of the machine.
/// Instruction sets fuse and order sums differently, so their results differ by rounding.
namespace foredraft::gpu_bench {

/// out[r, n] (+)= in[r, :] weight[n, :] (+ bias[n]). Rows are `stride` elements apart.
struct MatrixProduct {
  const float* in;
  std::int64_t in_stride;
  const float* weight;
  std::int64_t weight_stride;
  const float* bias;  ///< may be null
  float* out;
  std::int64_t out_stride;
  std::int64_t rows, outputs, inputs;
  bool accumulate;
};
void multiply(const MatrixProduct& product);

/// scores[i] = exp(scale * (scores[i] - max)) divided by the sum of all; scale > 0.
void softmax(float scale, std::span<float> scores);

/// out = sum of weights[i] * values[i * stride ...], each as long as `out`.
void weighted_sum(std::span<const float> weights, const float* values, std::int64_t stride, std::span<float> out);

/// out = f(in), or f(in) * gate if a gate is given. Equal sizes.
void activate(latency::Activation function, std::span<const float> in, const float* gate, std::span<float> out);

/// One row of latency/operations/program.hpp's AddNormalise; delta and bias may be null, out may be stream.
void add_normalise(latency::Norm norm, std::span<float> stream, const float* delta, const float* gain,
                   const float* bias, float* out);

/// The sum of all, in any order: used to measure reading of memory.
[[nodiscard]] float sum_of(std::span<const float> values);

// ---- Verification, over part of a row that fits into the first-level cache. Invalid logits are treated as in
// verification.hpp.

/// Logits, read from memory once. At least one.
[[nodiscard]] SoftmaxPart softmax_part(std::span<const float> logits);

/// Part of a row as probabilities: exp(logit - top) * factor.
struct ScaledLogits {
  const float* logits;
  float top;     ///< finite
  float factor;  ///< at least 0
};

struct WeightsSum {
  float sum;
  bool fault;  ///< a logit was NaN or +inf
};

/// weights = max(0, p - q); q = 0 where `draft` has no logits.
[[nodiscard]] WeightsSum residual_weights(const ScaledLogits& target, const ScaledLogits& draft,
                                          std::span<float> weights);

/// Highway's name of the instruction set in use: "AVX3", "AVX2", "NEON", ...
[[nodiscard]] std::string_view vector_instruction_set();

}  // namespace foredraft::gpu_bench
