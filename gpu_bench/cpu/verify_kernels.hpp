// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "gpu_bench/verify/online_softmax.hpp"

/// The bulk work of a verification on a CPU, over part of a row that fits into the first-level cache: fp32, on the
/// widest vectors of the machine. Invalid logits are treated as in verification.hpp. Instruction sets fuse and order
/// sums differently, so their results differ by rounding.
namespace foredraft::gpu_bench {

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

}  // namespace foredraft::gpu_bench
