// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/verify_kernels.hpp"

// See vector_kernels.cpp for restrictions on the part that is compiled once for each instruction set.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gpu_bench/cpu/verify_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After the two above: they also have a part for each instruction set.
#include <hwy/contrib/math/math-inl.h>
#include "gpu_bench/cpu/float_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace foredraft::gpu_bench::HWY_NAMESPACE {
namespace {

constexpr float infinity = __builtin_inff();
constexpr float largest_finite = 3.402823466e38F;
/// Number of parallel sums: a sum of fewer terms has less round-off.
constexpr int64_t registers = 4;

/// Cleaned logits; sets lanes of `faults` to 1 if one was NaN or +inf.
HWY_INLINE Floats Cleaned(Floats logits, Floats& faults) {
  const auto plain = hn::Lt(logits, Constant(infinity));
  const auto infinite = hn::Eq(logits, Constant(infinity));
  faults = hn::IfThenElse(plain, faults, Constant(1.0F));
  return hn::IfThenElse(plain, logits, hn::IfThenElse(infinite, Constant(largest_finite), Constant(-infinity)));
}

HWY_INLINE bool Any(Floats faults) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), faults)) > 0.0F; }

/// The sum of term(i, left) over vectors from i on, of which `left` elements exist.
template <class Term>
HWY_INLINE float SumOfTerms(int64_t count, const Term& term) {
  Floats sums[registers];
  for (int64_t j = 0; j < registers; ++j) sums[j] = hn::Zero(FloatTag());
  int64_t i = 0;
  for (; i + registers * lanes <= count; i += registers * lanes) {
    HWY_UNROLL(4)
    for (int64_t j = 0; j < registers; ++j) sums[j] = hn::Add(sums[j], term(i + j * lanes, lanes));
  }
  for (; i < count; i += lanes) sums[0] = hn::Add(sums[0], term(i, count - i));
  return Sum(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
}

void TakeSoftmax(const float* logits, int64_t count, float& top, float& sum, bool& fault) {
  Floats tops = Constant(-infinity);
  Floats faults = hn::Zero(FloatTag());
  for (int64_t i = 0; i < count; i += lanes) {
    tops = hn::Max(tops, Cleaned(LoadSome(logits + i, count - i, -infinity), faults));
  }
  fault = Any(faults);
  top = hn::GetLane(hn::MaxOfLanes(FloatTag(), tops));
  const Floats base = Constant(top == -infinity ? 0.0F : top);
  sum = SumOfTerms(count, [&](int64_t i, int64_t left) HWY_ATTR {
    return hn::Exp(FloatTag(), hn::Sub(Cleaned(LoadSome(logits + i, left, -infinity), faults), base));
  });
}

HWY_INLINE Floats Probabilities(const ScaledLogits& row, int64_t i, int64_t left, Floats& faults) {
  const Floats logits = Cleaned(LoadSome(row.logits + i, left, -infinity), faults);
  return hn::Mul(hn::Exp(FloatTag(), hn::Sub(logits, Constant(row.top))), Constant(row.factor));
}

float WriteResiduals(const ScaledLogits& target, const ScaledLogits& draft, float* weights, int64_t count,
                     bool& fault) {
  Floats faults = hn::Zero(FloatTag());
  const float sum = SumOfTerms(count, [&](int64_t i, int64_t left) HWY_ATTR {
    Floats weight = Probabilities(target, i, left, faults);
    if (draft.logits != nullptr) {
      weight = hn::Max(hn::Sub(weight, Probabilities(draft, i, left, faults)), hn::Zero(FloatTag()));
    }
    StoreSome(weight, weights + i, left);
    return weight;
  });
  fault = Any(faults);
  return sum;
}

}  // namespace
}  // namespace foredraft::gpu_bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foredraft::gpu_bench {
namespace {

HWY_EXPORT(TakeSoftmax);
HWY_EXPORT(WriteResiduals);

}  // namespace

SoftmaxPart softmax_part(std::span<const float> logits) {
  SoftmaxPart part;
  bool fault = false;
  HWY_DYNAMIC_DISPATCH(TakeSoftmax)
  (logits.data(), static_cast<std::int64_t>(logits.size()), part.top, part.sum, fault);
  part.fault = fault ? 1 : 0;
  return part;
}

WeightsSum residual_weights(const ScaledLogits& target, const ScaledLogits& draft, std::span<float> weights) {
  WeightsSum made{};
  made.sum = HWY_DYNAMIC_DISPATCH(WriteResiduals)(target, draft, weights.data(),
                                                  static_cast<std::int64_t>(weights.size()), made.fault);
  return made;
}

}  // namespace foredraft::gpu_bench
#endif
