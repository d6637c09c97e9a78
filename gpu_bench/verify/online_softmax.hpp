// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "gpu_bench/kernels/reduce.hpp"
#include "gpu_bench/kernels/storage.hpp"

/// Softmax of a row whose logits arrive a few at a time in many threads: a running maximum and a running sum.
/// Differences of logits are taken before scaling, so errors grow with the distance from the largest logit instead of
/// the magnitude of logits, and any finite fp32 is a valid logit.
namespace foredraft::gpu_bench {

/// 2^x with a relative error of two units in the last place; on the device, results below 2^-126 are 0.
FOREDRAFT_HOST_DEVICE inline float fast_exp2(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return std::exp2(x);
#endif
}

/// exp(logit - top). Relative error: that of fast_exp2, and 1.5e-7 for each unit between the two.
FOREDRAFT_HOST_DEVICE inline float exp_below(float logit, float top) {
  constexpr float log2_e = 1.44269504F;
  return fast_exp2((logit - top) * log2_e);
}

/// A cleaned logit as in verification.hpp: NaN becomes -inf, +inf the largest finite number.
FOREDRAFT_HOST_DEVICE inline float clean_logit(float logit) {
  return std::fmin(std::fmax(logit, -std::numeric_limits<float>::infinity()), std::numeric_limits<float>::max());
}

/// Whether clean_logit() changes the logit.
FOREDRAFT_HOST_DEVICE inline bool is_faulty(float logit) { return !(logit < std::numeric_limits<float>::infinity()); }

/// The softmax over some logits of a row.
struct SoftmaxPart {
  float top = -std::numeric_limits<float>::infinity();  ///< the largest logit
  float sum = 0.0F;                                     ///< of exp(logit - top)
  std::uint32_t fault = 0;                              ///< 1 where a logit was NaN or +inf
};

namespace detail {

/// Reference of differences: prevents NaN if all logits are -inf.
FOREDRAFT_HOST_DEVICE inline float base_of(float top) {
  return top == -std::numeric_limits<float>::infinity() ? 0.0F : top;
}

/// Sum of exp(logit - top), with `top` updated to the maximum of itself and all logits. NaN if a logit is NaN or +inf.
template <unsigned count>
FOREDRAFT_HOST_DEVICE inline float sum_below(const float (&logits)[count], float& top) {
  FOREDRAFT_UNROLL
  for (unsigned j = 0; j < count; ++j) top = std::fmax(top, logits[j]);
  const float base = base_of(top);
  float sum = 0.0F;
  FOREDRAFT_UNROLL
  for (unsigned j = 0; j < count; ++j) sum += exp_below(logits[j], base);
  return sum;
}

}  // namespace detail

/// Adds logits, clean or not, to `part`; one exponential each. Cleans them in place if one was faulty, so that the test
/// costs nothing per logit.
template <unsigned count>
FOREDRAFT_HOST_DEVICE inline void add_logits(float (&logits)[count], SoftmaxPart& part) {
  float top = part.top;
  float sum = detail::sum_below(logits, top);
  if (std::isnan(sum)) {
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < count; ++j) logits[j] = clean_logit(logits[j]);
    top = part.top;
    sum = detail::sum_below(logits, top);
    part.fault = 1;
  }
  part.sum = part.sum * exp_below(part.top, detail::base_of(top)) + sum;
  part.top = top;
}

/// The softmax over the union; the same bits for (b, a).
FOREDRAFT_HOST_DEVICE inline SoftmaxPart merged(const SoftmaxPart& a, const SoftmaxPart& b) {
  const float top = std::fmax(a.top, b.top);
  const float base = detail::base_of(top);
  return {
      .top = top, .sum = a.sum * exp_below(a.top, base) + b.sum * exp_below(b.top, base), .fault = a.fault | b.fault};
}

/// Merges over the lanes of each aligned group of `lanes`, a power of two; the result is in all of them.
template <class Block>
FOREDRAFT_HOST_DEVICE inline SoftmaxPart lane_merged(Block& block, SoftmaxPart part, unsigned lanes = warp_lanes) {
  float top = part.top;
  for (unsigned mask = lanes / 2; mask > 0; mask /= 2) {
    top = std::fmax(top, block.shuffle_xor(top, mask));
    part.fault |= block.shuffle_xor(part.fault, mask);
  }
  part.sum = lane_sum(block, part.sum * exp_below(part.top, detail::base_of(top)), lanes);
  part.top = top;
  return part;
}

/// Merges over the threads of a block; the result is in all of them. `scratch`: one part per warp, reusable after the
/// next sync.
template <class Block>
FOREDRAFT_HOST_DEVICE inline SoftmaxPart block_merged(Block& block, SoftmaxPart part, SoftmaxPart* scratch) {
  part = lane_merged(block, part);
  if (block.thread() % warp_lanes == 0) scratch[block.thread() / warp_lanes] = part;
  block.sync();
  const unsigned warps = block.threads() / warp_lanes;
  SoftmaxPart all;
  for (unsigned warp = 0; warp < warps; ++warp) all.top = std::fmax(all.top, scratch[warp].top);
  const float base = detail::base_of(all.top);
  for (unsigned warp = 0; warp < warps; ++warp) {
    all.sum += scratch[warp].sum * exp_below(scratch[warp].top, base);
    all.fault |= scratch[warp].fault;
  }
  return all;
}

/// The softmax over a whole row, as probabilities of clean logits. If nothing in the row is finite, every probability
/// is 0.
class RowSoftmax {
 public:
  RowSoftmax() = default;
  FOREDRAFT_HOST_DEVICE explicit RowSoftmax(const SoftmaxPart& row)
      : top_(detail::base_of(row.top)), inverse_sum_(row.sum > 0.0F ? 1.0F / row.sum : 0.0F) {}

  [[nodiscard]] FOREDRAFT_HOST_DEVICE float probability(float logit) const {
    return exp_below(logit, top_) * inverse_sum_;
  }

 private:
  float top_ = 0.0F;
  float inverse_sum_ = 0.0F;  ///< 0: every probability is 0
};

/// Natural logarithm of the probability of a clean logit; -inf for 0.
FOREDRAFT_HOST_DEVICE inline double log_probability(float logit, const SoftmaxPart& row) {
  if (!(row.sum > 0.0F) || logit == -std::numeric_limits<float>::infinity()) {
    return -std::numeric_limits<double>::infinity();
  }
  return (static_cast<double>(logit) - static_cast<double>(row.top)) - std::log(static_cast<double>(row.sum));
}

}  // namespace foredraft::gpu_bench
