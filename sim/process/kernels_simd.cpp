// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway. Must not call anything from the standard library: see kernels.hpp.
#include <cstdint>

#include "sim/process/kernels.hpp"

// Vectors without a fixed size cannot be members and array elements, which are used below.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/process/kernels_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace foredraft::sim::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR
/// Highway's scalar fallback has one lane and therefore no even and odd lanes.
void get_kernels(Kernels& kernels) { kernels = scalar_kernels(); }
#else

namespace hn = hwy::HWY_NAMESPACE;

using Draw32 = hn::ScalableTag<std::uint32_t>;
using Draw64 = hn::ScalableTag<std::uint64_t>;
using Lane16 = hn::ScalableTag<std::int16_t>;
using Vec16 = hn::Vec<Lane16>;
using Vec32 = hn::Vec<Draw32>;
using Vec64 = hn::Vec<Draw64>;
using Mask16 = hn::Mask<Lane16>;

/// Counters in the even 32-bit lanes; the odd lanes are never read. Upper halves of products stay in place unmasked.
struct EvenLanes {
  Vec32 x0, x1, x2, x3;

  HWY_INLINE void round(Vec32 multiplier0, Vec32 multiplier1, Vec32 key0, Vec32 key1) {
    const Vec64 product0 = hn::MulEven(x0, multiplier0);
    const Vec64 product1 = hn::MulEven(x2, multiplier1);
    x0 = hn::Xor3(hn::BitCast(Draw32(), hn::ShiftRight<32>(product1)), x1, key0);
    x1 = hn::BitCast(Draw32(), product1);
    x2 = hn::Xor3(hn::BitCast(Draw32(), hn::ShiftRight<32>(product0)), x3, key1);
    x3 = hn::BitCast(Draw32(), product0);
  }
};

constexpr std::size_t vectors =
    8;  // four words of two vectors of draws: enough independent chains to hide the latencies

/// [w] and [4 + w]: word w of the first and of the second vector of draws.
struct Words {
  Vec32 word[vectors];
};

/// Philox4x32-10 on vectors of draws [Salmon2011, Sec. 4.3]. The values that all draws of a stream share are prepared
/// once: the round keys as whole vectors in memory, where operands are free, and the fixed words of the counter.
class DrawStream {
 public:
  HWY_INLINE DrawStream(const std::uint32_t* key, const std::uint32_t* counter, std::uint64_t stride)
      : block_(hn::Set(Draw32(), counter[1])),
        point_(hn::Set(Draw32(), counter[2])),
        purpose_(hn::Set(Draw32(), counter[3])) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      hn::Store(hn::Set(Draw32(), key[0] + round * 0x9E3779B9U), Draw32(), keys0_[round]);
      hn::Store(hn::Set(Draw32(), key[1] + round * 0xBB67AE85U), Draw32(), keys1_[round]);
    }
    HWY_ALIGN std::uint64_t even[hn::MaxLanes(Draw64())];
    for (std::uint64_t lane = 0; lane < hn::Lanes(Draw64()); ++lane) even[lane] = 2 * lane * stride;
    index_[0] = hn::Load(Draw64(), even);
    index_[1] = hn::Add(index_[0], hn::Set(Draw64(), stride));
    index_[2] = hn::Add(index_[0], hn::Set(Draw64(), hn::Lanes(Draw32()) * stride));
    index_[3] = hn::Add(index_[1], hn::Set(Draw64(), hn::Lanes(Draw32()) * stride));
  }

  /// The draws of indices first, first + stride, first + 2 stride, ...
  HWY_INLINE Words draw(std::uint64_t first) const {
    const Vec32 multiplier0 = hn::Set(Draw32(), 0xD2511F53U);
    const Vec32 multiplier1 = hn::Set(Draw32(), 0xCD9E8D57U);
    EvenLanes even0 = start(hn::Add(index_[0], hn::Set(Draw64(), first)));
    EvenLanes odd0 = start(hn::Add(index_[1], hn::Set(Draw64(), first)));
    EvenLanes even1 = start(hn::Add(index_[2], hn::Set(Draw64(), first)));
    EvenLanes odd1 = start(hn::Add(index_[3], hn::Set(Draw64(), first)));
    HWY_UNROLL(10)
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const Vec32 key0 = hn::Load(Draw32(), keys0_[round]);
      const Vec32 key1 = hn::Load(Draw32(), keys1_[round]);
      even0.round(multiplier0, multiplier1, key0, key1);
      odd0.round(multiplier0, multiplier1, key0, key1);
      even1.round(multiplier0, multiplier1, key0, key1);
      odd1.round(multiplier0, multiplier1, key0, key1);
    }
    return {{interleave(even0.x0, odd0.x0), interleave(even0.x1, odd0.x1), interleave(even0.x2, odd0.x2),
             interleave(even0.x3, odd0.x3), interleave(even1.x0, odd1.x0), interleave(even1.x1, odd1.x1),
             interleave(even1.x2, odd1.x2), interleave(even1.x3, odd1.x3)}};
  }

 private:
  static constexpr std::uint32_t rounds = 10;

  HWY_INLINE EvenLanes start(Vec64 index) const {
    const Vec32 high = hn::BitCast(Draw32(), hn::ShiftRight<32>(index));
    return {hn::BitCast(Draw32(), index), block_, point_, hn::Or(purpose_, high)};
  }

  static HWY_INLINE Vec32 interleave(Vec32 even, Vec32 odd) {
    return hn::OddEven(hn::BitCast(Draw32(), hn::ShiftLeft<32>(hn::BitCast(Draw64(), odd))), even);
  }

  HWY_ALIGN std::uint32_t keys0_[rounds][hn::MaxLanes(Draw32())];
  HWY_ALIGN std::uint32_t keys1_[rounds][hn::MaxLanes(Draw32())];
  Vec64 index_[4];  // of the even and the odd lanes of the first vector, then of the second
  Vec32 block_;
  Vec32 point_;
  Vec32 purpose_;
};

HWY_INLINE std::uint64_t draws_per_group() { return 2 * hn::Lanes(Draw32()); }

/// The iteration of 16-bit lane `lane` of vector `v`, counted from the first of a group.
HWY_INLINE std::uint64_t iteration_of(std::uint64_t v, std::uint64_t lane) {
  return lanes_per_draw * (v / 4 * hn::Lanes(Draw32()) + lane / 2) + 2 * (v % 4) + lane % 2;
}

/// The lanes of vector `v` whose iteration is one of the first `remaining` of its group.
HWY_INLINE Mask16 first_iterations(std::uint64_t v, std::uint64_t remaining) {
  HWY_ALIGN std::int16_t valid[hn::MaxLanes(Lane16())];
  for (std::uint64_t lane = 0; lane < hn::Lanes(Lane16()); ++lane) {
    valid[lane] = iteration_of(v, lane) < remaining ? -1 : 0;
  }
  return hn::MaskFromVec(hn::Load(Lane16(), valid));
}

HWY_INLINE Mask16 no_lane() { return hn::MaskFromVec(hn::Zero(Lane16())); }

HWY_INLINE Vec16 signed_threshold(std::uint32_t high) {
  return hn::Set(Lane16(), static_cast<std::int16_t>(high ^ 0x8000U));
}

HWY_INLINE bool any(const Mask16 (&masks)[vectors]) {
  return !hn::AllFalse(Lane16(), hn::Or(hn::Or(hn::Or(masks[0], masks[1]), hn::Or(masks[2], masks[3])),
                                        hn::Or(hn::Or(masks[4], masks[5]), hn::Or(masks[6], masks[7]))));
}

/// Resolves the lanes of vector `v` that tie with some survival threshold.
HWY_NOINLINE void count_ties(const CountingTask& task, Vec16 values, Mask16 tied, std::uint64_t v, std::uint64_t first,
                             std::uint64_t remaining) {
  HWY_ALIGN std::int16_t value[hn::MaxLanes(Lane16())];
  HWY_ALIGN std::int16_t is_tied[hn::MaxLanes(Lane16())];
  hn::Store(values, Lane16(), value);
  hn::Store(hn::VecFromMask(Lane16(), tied), Lane16(), is_tied);
  for (std::uint64_t lane = 0; lane < hn::Lanes(Lane16()); ++lane) {
    const std::uint64_t iteration = iteration_of(v, lane);
    if (is_tied[lane] == 0 || iteration >= remaining) continue;
    count_tied_survivor(task, first + iteration, static_cast<std::uint16_t>(value[lane]) ^ 0x8000U);
  }
}

/// The lanes of vector `v` that tie with the threshold of `position` and are accepted.
HWY_NOINLINE Mask16 accepted_ties(const CountingTask& task, Mask16 tied, std::uint64_t v, std::uint64_t first,
                                  std::uint64_t position) {
  HWY_ALIGN std::int16_t lanes[hn::MaxLanes(Lane16())];
  hn::Store(hn::VecFromMask(Lane16(), tied), Lane16(), lanes);
  for (std::uint64_t lane = 0; lane < hn::Lanes(Lane16()); ++lane) {
    if (lanes[lane] != 0 && !accept_tie(task, first + iteration_of(v, lane), position)) lanes[lane] = 0;
  }
  return hn::MaskFromVec(hn::Load(Lane16(), lanes));
}

void count_survivors(const CountingTask& task) {
  const DrawStream stream(task.key, task.counter, 1);
  const std::uint64_t group = draws_per_group() * lanes_per_draw;
  for (std::uint64_t first = 0; first < task.iterations; first += group) {
    const std::uint64_t remaining = task.iterations - first;
    const Words words = stream.draw(first / lanes_per_draw);
    Vec16 value[vectors];
    Mask16 tied[vectors];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < vectors; ++v) {
      value[v] = hn::BitCast(Lane16(), words.word[v]);
      tied[v] = no_lane();
    }
    if (remaining < group) {
      // Lanes beyond the last iteration get the largest value, which never survives.
      for (std::size_t v = 0; v < vectors; ++v) {
        value[v] = hn::IfThenElse(first_iterations(v, remaining), value[v], hn::Set(Lane16(), std::int16_t{0x7fff}));
      }
    }
    for (std::uint64_t k = 0; k < task.positions; ++k) {
      if (task.high[k] > 0xffffU) {
        task.survivors[k] += remaining < group ? remaining : group;
        continue;
      }
      const Vec16 threshold = signed_threshold(task.high[k]);
      std::uint64_t survivors = 0;
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < vectors; ++v) {
        tied[v] = hn::Or(tied[v], hn::Eq(value[v], threshold));
        survivors += hn::CountTrue(Lane16(), hn::Lt(value[v], threshold));
      }
      if (survivors == 0) break;  // thresholds decrease; ties with later equal ones are found below
      task.survivors[k] += survivors;
    }
    if (HWY_UNLIKELY(any(tied))) {
      for (std::size_t v = 0; v < vectors; ++v) {
        if (!hn::AllFalse(Lane16(), tied[v])) count_ties(task, value[v], tied[v], v, first, remaining);
      }
    }
  }
}

void count_bernoulli(const CountingTask& task) {
  const DrawStream stream(task.key, task.counter, task.positions);
  const std::uint64_t group = draws_per_group() * lanes_per_draw;
  for (std::uint64_t first = 0; first < task.iterations; first += group) {
    const std::uint64_t remaining = task.iterations - first;
    Mask16 alive[vectors];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < vectors; ++v) alive[v] = hn::Not(no_lane());
    if (remaining < group) {
      for (std::size_t v = 0; v < vectors; ++v) alive[v] = first_iterations(v, remaining);
    }
    for (std::uint64_t k = 0; k < task.positions; ++k) {
      if (task.high[k] <= 0xffffU) {
        const Words words = stream.draw(first / lanes_per_draw * task.positions + k);
        const Vec16 threshold = signed_threshold(task.high[k]);
        Mask16 tied[vectors];
        HWY_UNROLL(8)
        for (std::size_t v = 0; v < vectors; ++v) {
          const Vec16 value = hn::BitCast(Lane16(), words.word[v]);
          tied[v] = hn::And(alive[v], hn::Eq(value, threshold));
          alive[v] = hn::And(alive[v], hn::Lt(value, threshold));
        }
        if (HWY_UNLIKELY(any(tied))) {
          for (std::size_t v = 0; v < vectors; ++v) {
            if (hn::AllFalse(Lane16(), tied[v])) continue;
            alive[v] = hn::Or(alive[v], accepted_ties(task, tied[v], v, first, k));
          }
        }
      }
      std::uint64_t survivors = 0;
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < vectors; ++v) survivors += hn::CountTrue(Lane16(), alive[v]);
      if (survivors == 0) break;
      task.survivors[k] += survivors;
    }
  }
}

void fill_draws(const std::uint32_t* key, const std::uint32_t* counter, std::uint64_t first, std::uint64_t draws,
                std::uint32_t* words) {
  const DrawStream stream(key, counter, 1);
  for (std::uint64_t j = 0; j < draws; j += draws_per_group()) {
    const Words drawn = stream.draw(first + j);
    std::uint32_t* next = words + 4 * j;
    hn::StoreInterleaved4(drawn.word[0], drawn.word[1], drawn.word[2], drawn.word[3], Draw32(), next);
    next += 4 * hn::Lanes(Draw32());
    hn::StoreInterleaved4(drawn.word[4], drawn.word[5], drawn.word[6], drawn.word[7], Draw32(), next);
  }
}

void get_kernels(Kernels& kernels) {
  kernels.count_survivors = count_survivors;
  kernels.count_bernoulli = count_bernoulli;
  kernels.fill_draws = fill_draws;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace foredraft::sim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foredraft::sim {

HWY_EXPORT(get_kernels);

std::int64_t simd_targets_built() { return HWY_TARGETS & ~HWY_SCALAR; }

std::int64_t simd_targets_supported() { return hwy::SupportedTargets() & simd_targets_built(); }

const char* simd_target_name(std::int64_t target) { return hwy::TargetName(target); }

Kernels simd_kernels(std::int64_t target) {
  Kernels kernels{};
  hwy::GetChosenTarget().Update(target);
  HWY_DYNAMIC_DISPATCH(get_kernels)(kernels);
  hwy::GetChosenTarget().DeInit();
  return kernels;
}

void restrict_simd_target(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target == 0 ? HWY_SCALAR : target);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace foredraft::sim
#endif  // HWY_ONCE
