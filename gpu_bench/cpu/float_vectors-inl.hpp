// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, as Highway's own headers of this kind: FOREDRAFT_FLOAT_VECTORS follows
// HWY_TARGET_TOGGLE.
#if defined(FOREDRAFT_FLOAT_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef FOREDRAFT_FLOAT_VECTORS
#undef FOREDRAFT_FLOAT_VECTORS
#else
#define FOREDRAFT_FLOAT_VECTORS
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace foredraft::gpu_bench::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
// NOLINTNEXTLINE(misc-definitions-in-headers): of this instruction set
constexpr int64_t lanes = static_cast<int64_t>(hn::MaxLanes(FloatTag()));

HWY_INLINE int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }
HWY_INLINE Floats Constant(float value) { return hn::Set(FloatTag(), value); }
HWY_INLINE Floats Load(const float* from) { return hn::LoadU(FloatTag(), from); }
HWY_INLINE float Sum(Floats value) { return hn::GetLane(hn::SumOfLanes(FloatTag(), value)); }

/// The first `left` lanes of a vector, or all; `rest` in the others.
HWY_INLINE Floats LoadSome(const float* from, int64_t left, float rest = 0.0F) {
  if (HWY_LIKELY(left >= lanes)) return Load(from);
  HWY_ALIGN float padded[lanes];
  for (int64_t i = 0; i < lanes; ++i) padded[i] = i < left ? from[i] : rest;
  return hn::Load(FloatTag(), padded);
}

HWY_INLINE void StoreSome(Floats value, float* to, int64_t left) {
  if (HWY_LIKELY(left >= lanes)) {
    hn::StoreU(value, FloatTag(), to);
    return;
  }
  HWY_ALIGN float padded[lanes];
  hn::Store(value, FloatTag(), padded);
  for (int64_t i = 0; i < left; ++i) to[i] = padded[i];
}

}  // namespace
}  // namespace foredraft::gpu_bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
