// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/vector_kernels.hpp"

#include "core/check.hpp"

#ifndef FOREDRAFT_SIM_TOKEN_VECTOR_KERNELS_ONCE
#define FOREDRAFT_SIM_TOKEN_VECTOR_KERNELS_ONCE
namespace foredraft::sim {
/// A RandomStream in parts: the constant words of key and counter, and the draw to continue from.
struct PhiloxStream {
  std::uint32_t key0, key1;
  std::uint32_t block, point, purpose_bits;
  std::uint64_t draw;
};
}  // namespace foredraft::sim
#endif

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once for each instruction set. It must
// not contain inline functions of a library: the linker would keep one copy, compiled for any of the sets. Vectors of
// unknown length cannot be array elements.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/token/rows/vector_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace foredraft::sim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::CappedTag<uint64_t, 8>;
using Words = hn::Vec<WordTag>;
#if HWY_TARGET == HWY_SCALAR
using FloatTag = hn::CappedTag<float, 1>;  // a vector with one lane on every target
#else
using FloatTag = hn::Repartition<float, WordTag>;
#endif
using Floats = hn::Vec<FloatTag>;
using IntTag = hn::Rebind<int32_t, FloatTag>;
using Ints = hn::Vec<IntTag>;
using UintTag = hn::Rebind<uint32_t, FloatTag>;
using Uints = hn::Vec<UintTag>;
using DoubleTag = hn::Rebind<double, WordTag>;
using Doubles = hn::Vec<DoubleTag>;
using HalfFloatTag = hn::Rebind<float, DoubleTag>;

/// Philox counters side by side, one 32-bit word in each 64-bit lane. The high halves are undefined: multiplications
/// read only the low halves, and words() drops the high ones.
struct PhiloxBlock {
  Words w0, w1, w2, w3;
};

/// Products of the low halves; b has no high half.
HWY_INLINE Words MulLow32(Words a, Words b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(WordTag(), (hn::GetLane(a) & 0xFFFFFFFF) * hn::GetLane(b));
#else
  return hn::MulEven(hn::BitCast(UintTag(), a), hn::BitCast(UintTag(), b));
#endif
}

constexpr int philox_rounds = 10;

/// The keys of all rounds as vectors, built once for a loop over blocks.
struct RoundKeys {
  Words key0[philox_rounds];
  Words key1[philox_rounds];
};

HWY_INLINE void MakeRoundKeys(const PhiloxStream& stream, RoundKeys& keys) {
  for (uint32_t round = 0; round < philox_rounds; ++round) {
    keys.key0[round] = hn::Set(WordTag(), stream.key0 + round * 0x9E3779B9);
    keys.key1[round] = hn::Set(WordTag(), stream.key1 + round * 0xBB67AE85);
  }
}

/// Ten rounds [Salmon2011] for the draws stream.draw, stream.draw + 1, ...
HWY_INLINE PhiloxBlock Philox(const PhiloxStream& stream, const RoundKeys& keys) {
  const WordTag d;
  const Words multiplier0 = hn::Set(d, 0xD2511F53);
  const Words multiplier1 = hn::Set(d, 0xCD9E8D57);
  const Words index = hn::Add(hn::Set(d, stream.draw), hn::Iota(d, 0));
  PhiloxBlock c{index, hn::Set(d, stream.block), hn::Set(d, stream.point),
                hn::Or(hn::ShiftRight<32>(index), hn::Set(d, stream.purpose_bits))};
  for (int round = 0; round < philox_rounds; ++round) {
    const Words product0 = MulLow32(c.w0, multiplier0);
    const Words product1 = MulLow32(c.w2, multiplier1);
    c.w0 = hn::Xor3(hn::ShiftRight<32>(product1), c.w1, keys.key0[round]);
    c.w2 = hn::Xor3(hn::ShiftRight<32>(product0), c.w3, keys.key1[round]);
    c.w1 = product1;
    c.w3 = product0;
  }
  return c;
}

/// low | high << 32, lane by lane.
HWY_INLINE Words Pack(Words low, Words high) {
  return hn::Or(hn::And(low, hn::Set(WordTag(), 0xFFFFFFFF)), hn::ShiftLeft<32>(high));
}

void FillWords(PhiloxStream stream, uint64_t* HWY_RESTRICT words, size_t count) {
  const WordTag d;
  RoundKeys keys;
  MakeRoundKeys(stream, keys);
  for (size_t i = 0; i < count; i += 2 * hn::Lanes(d)) {
    const PhiloxBlock c = Philox(stream, keys);
    hn::StoreInterleaved2(Pack(c.w0, c.w1), Pack(c.w2, c.w3), d, words + i);
    stream.draw += hn::Lanes(d);
  }
}

/// a + b * c, rounded twice on every instruction set.
HWY_INLINE Floats AddMul(Floats a, Floats b, Floats c) { return hn::Add(a, hn::Mul(b, c)); }

HWY_INLINE Floats Constant(float value) { return hn::Set(FloatTag(), value); }

/// ln u for u in (0, 1]: u = 2^e m, m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1) / (m + 1)) to 2e-8 as a series.
HWY_INLINE Floats Log(Floats u) {
  const IntTag di;
  const Ints bits = hn::BitCast(di, u);
  const Ints sqrt_half = hn::Set(di, 0x3F3504F3);
  const Ints exponent = hn::ShiftRight<23>(hn::Sub(bits, sqrt_half));
  const Floats m = hn::BitCast(FloatTag(), hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const Floats s = hn::Div(hn::Sub(m, Constant(1.0F)), hn::Add(m, Constant(1.0F)));
  const Floats s2 = hn::Mul(s, s);
  Floats series = AddMul(Constant(0.66655622F), s2, Constant(0.41201986F));
  series = AddMul(Constant(2.0F), s2, series);
  return AddMul(hn::Mul(s, series), hn::ConvertTo(FloatTag(), exponent), Constant(0.693147181F));
}

struct NormalPair {
  Floats first, second;
};

/// Two normals from two words [Box1958]. The radius comes from the 31 high bits of the first word. The second is a
/// signed angle in [-pi/4, pi/4), whose lowest two bits also determine the reflections at the diagonal and at the
/// origin; that covers the circle without range reduction, and the bits used twice are below single precision.
HWY_INLINE NormalPair BoxMuller(Uints radius_word, Ints angle_word) {
  const FloatTag d;
  const IntTag di;
  const Floats integer = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<1>(radius_word)));
  const Floats u = hn::Mul(hn::Add(integer, Constant(0.5F)), Constant(0x1.0p-31F));
  const Floats radius = hn::Sqrt(hn::Mul(Constant(-2.0F), Log(u)));

  const Floats x = hn::Mul(hn::ConvertTo(d, angle_word), Constant(0.785398163F * 0x1.0p-31F));
  const Floats x2 = hn::Mul(x, x);
  Floats sine = AddMul(Constant(0.00833218F), x2, Constant(-0.00019517F));
  sine = AddMul(Constant(-0.16666655F), x2, sine);
  sine = AddMul(x, hn::Mul(x, x2), sine);
  Floats cosine = AddMul(Constant(0.04165578F), x2, Constant(-0.00135919F));
  cosine = AddMul(Constant(-0.49999885F), x2, cosine);
  cosine = AddMul(Constant(1.0F), x2, cosine);

  const Floats sign = hn::BitCast(d, hn::ShiftLeft<31>(angle_word));
  const auto mirror = hn::RebindMask(d, hn::Lt(hn::ShiftLeft<30>(angle_word), hn::Zero(di)));
  const Floats signed_radius = hn::Xor(radius, sign);
  return {hn::Mul(signed_radius, hn::IfThenElse(mirror, sine, cosine)),
          hn::Mul(signed_radius, hn::IfThenElse(mirror, cosine, sine))};
}

constexpr size_t normals_per_block = 4 * hn::MaxLanes(WordTag());

/// Four normals per draw, side by side, from the pairs of words (0, 1) and (2, 3).
HWY_INLINE void StoreNormals(const PhiloxBlock& c, float* normals) {
#if HWY_TARGET == HWY_SCALAR
  const Words radius_words[2] = {c.w0, c.w2};
  const Words angle_words[2] = {c.w1, c.w3};
  for (size_t i = 0; i < 2; ++i) {
    const NormalPair pair =
        BoxMuller(hn::Set(UintTag(), static_cast<uint32_t>(hn::GetLane(radius_words[i]) & 0xFFFFFFFF)),
                  hn::Set(IntTag(), static_cast<int32_t>(hn::GetLane(angle_words[i]) & 0xFFFFFFFF)));
    normals[2 * i] = hn::GetLane(pair.first);
    normals[2 * i + 1] = hn::GetLane(pair.second);
  }
#else
  const NormalPair pair = BoxMuller(hn::BitCast(UintTag(), Pack(c.w0, c.w2)), hn::BitCast(IntTag(), Pack(c.w1, c.w3)));
  hn::StoreInterleaved2(pair.first, pair.second, FloatTag(), normals);
#endif
}

void AddNormals(PhiloxStream stream, float scale, const float* base, float* out, size_t count) {
  const FloatTag d;
  RoundKeys keys;
  MakeRoundKeys(stream, keys);
  HWY_ALIGN float normals[normals_per_block];
  for (size_t i = 0; i < count; i += normals_per_block) {
    StoreNormals(Philox(stream, keys), normals);
    for (size_t j = 0; j < normals_per_block; j += hn::Lanes(d)) {
      hn::StoreU(AddMul(hn::LoadU(d, base + i + j), Constant(scale), hn::Load(d, normals + j)), d, out + i + j);
    }
    stream.draw += hn::Lanes(WordTag());
  }
}

/// exp(y) for y in [-87, 0] as 2^k exp(f), |f| <= ln(2) / 2; 0 below. Relative error of exp(f) 1.1e-7.
HWY_INLINE Floats Exp(Floats y) {
  const IntTag di;
  const Ints k = hn::NearestInt(hn::Mul(y, Constant(1.44269504F)));
  const Floats kf = hn::ConvertTo(FloatTag(), k);
  // ln 2 in two parts, the first with few enough bits that k times it is exact.
  const Floats f = hn::Sub(hn::Sub(y, hn::Mul(kf, Constant(0.693359375F))), hn::Mul(kf, Constant(-2.12194440e-4F)));
  Floats series = AddMul(Constant(0.04189011F), f, Constant(0.00831249F));
  series = AddMul(Constant(0.16667115F), f, series);
  series = AddMul(Constant(0.49999232F), f, series);
  series = AddMul(Constant(1.0F), f, series);
  series = AddMul(Constant(1.0F), f, series);
  const Floats value = hn::BitCast(FloatTag(), hn::Add(hn::BitCast(di, series), hn::ShiftLeft<23>(k)));
  return hn::IfThenElseZero(hn::Ge(y, Constant(-87.0F)), value);
}

void SoftmaxWeights(const float* logits, float inverse_temperature, float* weights, double* block_sums, size_t count) {
  const FloatTag df;
  const DoubleTag dd;
  const HalfFloatTag half;
  Floats max_lanes = hn::LoadU(df, logits);
  for (size_t i = hn::Lanes(df); i < count; i += hn::Lanes(df)) {
    max_lanes = hn::Max(max_lanes, hn::LoadU(df, logits + i));
  }
  const Floats max = hn::MaxOfLanes(df, max_lanes);

  // Element i is added to lane i mod 8, for any width of a register.
  constexpr size_t sum_lanes = 8;
  constexpr size_t registers = sum_lanes / hn::MaxLanes(dd);
  for (size_t begin = 0; begin < count; begin += sum_block) {
    const size_t end = begin + sum_block < count ? begin + sum_block : count;
    for (size_t i = begin; i < end; i += hn::Lanes(df)) {
      const Floats y = hn::Mul(hn::Sub(hn::LoadU(df, logits + i), max), Constant(inverse_temperature));
      hn::StoreU(Exp(y), df, weights + i);
    }
    Doubles sums[registers];
    for (Doubles& sum : sums) sum = hn::Zero(dd);
    for (size_t i = begin; i < end; i += sum_lanes) {
      for (size_t r = 0; r < registers; ++r) {
        sums[r] = hn::Add(sums[r], hn::PromoteTo(dd, hn::LoadU(half, weights + i + r * hn::MaxLanes(dd))));
      }
    }
    HWY_ALIGN double lane[sum_lanes];
    for (size_t r = 0; r < registers; ++r) hn::Store(sums[r], dd, lane + r * hn::MaxLanes(dd));
    block_sums[begin / sum_block] =
        ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
}

}  // namespace foredraft::sim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foredraft::sim {
namespace {

HWY_EXPORT(FillWords);
HWY_EXPORT(AddNormals);
HWY_EXPORT(SoftmaxWeights);

/// Splits a stream into parts. Throws DomainError if draws exceed the counter's bits.
PhiloxStream take_apart(std::uint64_t seed, const StreamId& id, std::uint64_t first_draw, std::uint64_t draws) {
  const PhiloxWords counter = philox_counter(id, first_draw + draws);
  const auto key = philox_key(seed);
  return {.key0 = key[0],
          .key1 = key[1],
          .block = counter[1],
          .point = counter[2],
          .purpose_bits = philox_counter(id, 0)[3],
          .draw = first_draw};
}

}  // namespace

void fill_words(std::uint64_t seed, const StreamId& id, std::uint64_t first_draw, std::span<std::uint64_t> words) {
  FOREDRAFT_EXPECT(words.size() % word_granule == 0);
  const PhiloxStream stream = take_apart(seed, id, first_draw, words.size() / 2);
  HWY_DYNAMIC_DISPATCH(FillWords)(stream, words.data(), words.size());
}

void add_normals(std::uint64_t seed, const StreamId& id, std::uint64_t first_draw, float scale,
                 std::span<const float> base, std::span<float> out) {
  FOREDRAFT_EXPECT(out.size() % row_granule == 0 && base.size() == out.size());
  const PhiloxStream stream = take_apart(seed, id, first_draw, normal_draws(out.size()));
  HWY_DYNAMIC_DISPATCH(AddNormals)(stream, scale, base.data(), out.data(), out.size());
}

void softmax_weights(std::span<const float> logits, float inverse_temperature, std::span<float> weights,
                     std::span<double> block_sums) {
  FOREDRAFT_EXPECT(!logits.empty() && logits.size() % row_granule == 0 && weights.size() == logits.size());
  FOREDRAFT_EXPECT(block_sums.size() == sum_blocks(logits.size()));
  HWY_DYNAMIC_DISPATCH(SoftmaxWeights)
  (logits.data(), inverse_temperature, weights.data(), block_sums.data(), logits.size());
}

}  // namespace foredraft::sim
#endif
