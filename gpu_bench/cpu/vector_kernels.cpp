// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/vector_kernels.hpp"

#include "latency/operations/reference.hpp"

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once for each instruction set. It must
// not contain inline functions of a library: the linker would keep one copy, compiled for any of the sets. Vectors of
// unknown length cannot form the arrays below.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gpu_bench/cpu/vector_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After the two above: they also have a part for each instruction set.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace foredraft::gpu_bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
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

// A product is computed in tiles whose sums stay in registers; 512-bit vectors and NEON have 32 of them, others 16.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int64_t tile_rows = 4;
#else
constexpr int64_t tile_rows = 2;
#endif
constexpr int64_t tile_outputs = 4;
constexpr int64_t line_floats = 16;  // of a cache line
/// Rows of this size stay in the second-level cache while the weights stream through.
constexpr int64_t block_floats = 65'536;

template <int64_t rows, int64_t outputs>
struct Tile {
  Floats sums[static_cast<size_t>(rows)][static_cast<size_t>(outputs)];

  HWY_INLINE void Clear() {
    HWY_UNROLL(4)
    for (int64_t r = 0; r < rows; ++r) {
      HWY_UNROLL(4)
      for (int64_t n = 0; n < outputs; ++n) sums[r][n] = hn::Zero(FloatTag());
    }
  }

  HWY_INLINE void Add(const MatrixProduct& p, const float* in, const float* weight, int64_t left) {
    Floats weights[static_cast<size_t>(outputs)];
    HWY_UNROLL(4)
    for (int64_t n = 0; n < outputs; ++n) weights[n] = LoadSome(weight + n * p.weight_stride, left);
    HWY_UNROLL(4)
    for (int64_t r = 0; r < rows; ++r) {
      const Floats value = LoadSome(in + r * p.in_stride, left);
      HWY_UNROLL(4)
      for (int64_t n = 0; n < outputs; ++n) sums[r][n] = hn::MulAdd(value, weights[n], sums[r][n]);
    }
  }
};

HWY_INLINE void Put(const MatrixProduct& p, int64_t row, int64_t output, float sum) {
  float* out = p.out + row * p.out_stride + output;
  if (p.bias != nullptr) sum += p.bias[output];
  *out = p.accumulate ? *out + sum : sum;
}

/// The sums of `rows` x `outputs`. `fetch_next`: prefetches the next weights in memory order, which the processor does
/// not recognize when several rows are read at a time, so that it would wait for each line. With two rows of input the
/// next tile is needed at once; with more it would be evicted from the first-level cache before its use.
template <int64_t rows, int64_t outputs>
HWY_INLINE void MultiplyTile(const MatrixProduct& p, int64_t row, int64_t output, bool fetch_next) {
  const float* in = p.in + row * p.in_stride;
  const float* weight = p.weight + output * p.weight_stride;
  constexpr bool soon = rows <= 2;
  const float* next = weight + (soon ? 1 : 2) * outputs * p.weight_stride;
  Tile<rows, outputs> tile;
  tile.Clear();
  int64_t k = 0;
  if (fetch_next) {
    for (; k + lanes <= p.inputs; k += lanes) {
      for (int64_t i = 0; i < outputs * lanes; i += line_floats) {
        __builtin_prefetch(next + outputs * k + i, 0, soon ? 3 : 2);
      }
      tile.Add(p, in + k, weight + k, lanes);
    }
  } else {
    for (; k + lanes <= p.inputs; k += lanes) tile.Add(p, in + k, weight + k, lanes);
  }
  if (k < p.inputs) tile.Add(p, in + k, weight + k, p.inputs - k);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t n = 0; n < outputs; ++n) Put(p, row + r, output + n, Sum(tile.sums[r][n]));
  }
}

/// One sum in several registers: a single row of input reads each weight once, in memory order.
HWY_INLINE void MultiplyOne(const MatrixProduct& p, int64_t row, int64_t output) {
  constexpr int64_t registers = 4;
  const float* in = p.in + row * p.in_stride;
  const float* weight = p.weight + output * p.weight_stride;
  Tile<1, registers> tile;
  tile.Clear();
  Floats* sums = tile.sums[0];
  int64_t k = 0;
  for (; k + registers * lanes <= p.inputs; k += registers * lanes) {
    HWY_UNROLL(4)
    for (int64_t j = 0; j < registers; ++j) {
      sums[j] = hn::MulAdd(Load(in + k + j * lanes), Load(weight + k + j * lanes), sums[j]);
    }
  }
  for (; k < p.inputs; k += lanes) {
    sums[0] = hn::MulAdd(LoadSome(in + k, p.inputs - k), LoadSome(weight + k, p.inputs - k), sums[0]);
  }
  Put(p, row, output, Sum(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

/// Product of one set of weights with rows [first, end).
template <int64_t outputs>
HWY_INLINE void MultiplyRows(const MatrixProduct& p, int64_t first, int64_t end, int64_t output, bool fetch_next) {
  int64_t row = first;
  for (; row + tile_rows <= end; row += tile_rows) {
    MultiplyTile<tile_rows, outputs>(p, row, output, fetch_next && row == first);
  }
  fetch_next = fetch_next && row == first;
  // The rest is one tile: with two tiles, three rows took longer than four.
  if (end - row == 3) MultiplyTile<3, outputs>(p, row, output, fetch_next);
  if (end - row == 2) MultiplyTile<2, outputs>(p, row, output, fetch_next);
  if (end - row == 1) MultiplyTile<1, outputs>(p, row, output, fetch_next);
}

void Multiply(const MatrixProduct& p) {
  if (p.rows == 1) {
    for (int64_t output = 0; output < p.outputs; ++output) MultiplyOne(p, 0, output);
    return;
  }
  const int64_t fitting = block_floats / p.inputs / tile_rows * tile_rows;
  const int64_t block_rows = fitting < tile_rows ? tile_rows : fitting;
  const bool in_order = p.weight_stride == p.inputs;
  for (int64_t first = 0; first < p.rows; first += block_rows) {
    const int64_t end = Smaller(first + block_rows, p.rows);
    int64_t output = 0;
    for (; output + tile_outputs <= p.outputs; output += tile_outputs) {
      const bool more = output + 3 * tile_outputs <= p.outputs;
      MultiplyRows<tile_outputs>(p, first, end, output, in_order && more);
    }
    for (; output < p.outputs; ++output) MultiplyRows<1>(p, first, end, output, false);
  }
}

HWY_INLINE Floats Exp(Floats x) { return hn::Exp(FloatTag(), hn::Min(x, Constant(88.0F))); }

void Softmax(float scale, float* scores, int64_t count) {
  constexpr float lowest = -3.402823466e38F;
  Floats largest = Constant(lowest);
  for (int64_t i = 0; i < count; i += lanes) largest = hn::Max(largest, LoadSome(scores + i, count - i, lowest));
  const Floats max = hn::MaxOfLanes(FloatTag(), largest);
  Floats sums = hn::Zero(FloatTag());
  for (int64_t i = 0; i < count; i += lanes) {
    // Lanes beyond the end contribute 0: the exponential of a value far below all others.
    const Floats score = LoadSome(scores + i, count - i, lowest);
    const Floats share = Exp(hn::Mul(hn::Sub(score, max), Constant(scale)));
    sums = hn::Add(sums, share);
    StoreSome(share, scores + i, count - i);
  }
  const Floats factor = Constant(1.0F / Sum(sums));
  for (int64_t i = 0; i < count; i += lanes) {
    StoreSome(hn::Mul(LoadSome(scores + i, count - i), factor), scores + i, count - i);
  }
}

void WeightedSum(const float* weights, int64_t count, const float* values, int64_t stride, float* out, int64_t width) {
  constexpr int64_t registers = 4;
  for (int64_t begin = 0; begin < width; begin += registers * lanes) {
    Floats sums[registers];
    for (int64_t j = 0; j < registers; ++j) sums[j] = hn::Zero(FloatTag());
    const int64_t left = width - begin;
    if (left >= registers * lanes) {
      for (int64_t i = 0; i < count; ++i) {
        const Floats weight = Constant(weights[i]);
        const float* value = values + i * stride + begin;
        for (int64_t j = 0; j < registers; ++j) sums[j] = hn::MulAdd(weight, Load(value + j * lanes), sums[j]);
      }
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const Floats weight = Constant(weights[i]);
        const float* value = values + i * stride + begin;
        for (int64_t j = 0; j < registers && j * lanes < left; ++j) {
          sums[j] = hn::MulAdd(weight, LoadSome(value + j * lanes, left - j * lanes), sums[j]);
        }
      }
    }
    for (int64_t j = 0; j < registers && j * lanes < left; ++j) {
      StoreSome(sums[j], out + begin + j * lanes, left - j * lanes);
    }
  }
}

/// Error at most 1.5e-7 [Abramowitz1964, 7.1.26].
HWY_INLINE Floats Erf(Floats x) {
  const Floats size = hn::Abs(x);
  const Floats t = hn::Div(Constant(1.0F), hn::MulAdd(size, Constant(0.3275911F), Constant(1.0F)));
  Floats series = hn::MulAdd(t, Constant(1.061405429F), Constant(-1.453152027F));
  series = hn::MulAdd(t, series, Constant(1.421413741F));
  series = hn::MulAdd(t, series, Constant(-0.284496736F));
  series = hn::Mul(t, hn::MulAdd(t, series, Constant(0.254829592F)));
  const Floats value = hn::NegMulAdd(series, Exp(hn::Neg(hn::Mul(x, x))), Constant(1.0F));
  return hn::CopySign(value, x);
}

HWY_INLINE Floats Activated(latency::Activation function, Floats x) {
  switch (function) {
    case latency::Activation::silu:
      return hn::Div(x, hn::Add(Constant(1.0F), Exp(hn::Neg(x))));
    case latency::Activation::gelu:
      return hn::Mul(hn::Mul(Constant(0.5F), x), hn::Add(Constant(1.0F), Erf(hn::Mul(x, Constant(0.70710678F)))));
    case latency::Activation::relu:
      break;
  }
  return hn::Max(x, hn::Zero(FloatTag()));
}

void Activate(latency::Activation function, const float* in, const float* gate, float* out, int64_t count) {
  for (int64_t i = 0; i < count; i += lanes) {
    Floats value = Activated(function, LoadSome(in + i, count - i));
    if (gate != nullptr) value = hn::Mul(value, LoadSome(gate + i, count - i));
    StoreSome(value, out + i, count - i);
  }
}

void AddNormalise(bool subtract_mean, float* stream, const float* delta, const float* gain, const float* bias,
                  float* out, int64_t width) {
  const FloatTag d;
  const auto size = static_cast<float>(width);
  Floats sums = hn::Zero(d);
  for (int64_t i = 0; i < width; i += lanes) {
    Floats value = LoadSome(stream + i, width - i);
    if (delta != nullptr) {
      value = hn::Add(value, LoadSome(delta + i, width - i));
      StoreSome(value, stream + i, width - i);
    }
    sums = hn::Add(sums, value);
  }
  const Floats mean = subtract_mean ? Constant(Sum(sums) / size) : hn::Zero(d);
  Floats squares = hn::Zero(d);
  for (int64_t i = 0; i < width; i += lanes) {
    const Floats distance = hn::Sub(LoadSome(stream + i, width - i), mean);
    const auto inside = hn::FirstN(d, static_cast<size_t>(Smaller(width - i, lanes)));
    squares = hn::Add(squares, hn::IfThenElseZero(inside, hn::Mul(distance, distance)));
  }
  const Floats spread = Constant(Sum(squares) / size + static_cast<float>(latency::norm_epsilon));
  const Floats factor = hn::Div(Constant(1.0F), hn::Sqrt(spread));
  for (int64_t i = 0; i < width; i += lanes) {
    const Floats distance = hn::Sub(LoadSome(stream + i, width - i), mean);
    Floats value = hn::Mul(hn::Mul(distance, factor), LoadSome(gain + i, width - i));
    if (bias != nullptr) value = hn::Add(value, LoadSome(bias + i, width - i));
    StoreSome(value, out + i, width - i);
  }
}

/// The sum of term(i, left) over vectors from i on, of which `left` elements exist. In several registers: a sum of
/// fewer terms has less round-off, and additions need not wait for each other.
template <int64_t registers, class Term>
HWY_INLINE float SumOfTerms(int64_t count, const Term& term) {
  Floats sums[static_cast<size_t>(registers)];
  for (int64_t j = 0; j < registers; ++j) sums[j] = hn::Zero(FloatTag());
  int64_t i = 0;
  for (; i + registers * lanes <= count; i += registers * lanes) {
    HWY_UNROLL(8)
    for (int64_t j = 0; j < registers; ++j) sums[j] = hn::Add(sums[j], term(i + j * lanes, lanes));
  }
  for (; i < count; i += lanes) sums[0] = hn::Add(sums[0], term(i, count - i));
  for (int64_t apart = 1; apart < registers; apart *= 2) {
    for (int64_t j = 0; j < registers; j += 2 * apart) sums[j] = hn::Add(sums[j], sums[j + apart]);
  }
  return Sum(sums[0]);
}

float SumOf(const float* values, int64_t count) {
  return SumOfTerms<8>(count, [&](int64_t i, int64_t left) HWY_ATTR { return LoadSome(values + i, left); });
}

// ---- Verification.

constexpr float infinity = __builtin_inff();
constexpr float largest_finite = 3.402823466e38F;

/// Cleaned logits; sets lanes of `faults` to 1 if one was NaN or +inf.
HWY_INLINE Floats Cleaned(Floats logits, Floats& faults) {
  const auto plain = hn::Lt(logits, Constant(infinity));
  const auto infinite = hn::Eq(logits, Constant(infinity));
  faults = hn::IfThenElse(plain, faults, Constant(1.0F));
  return hn::IfThenElse(plain, logits, hn::IfThenElse(infinite, Constant(largest_finite), Constant(-infinity)));
}

HWY_INLINE bool Any(Floats faults) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), faults)) > 0.0F; }

void TakeSoftmax(const float* logits, int64_t count, float& top, float& sum, bool& fault) {
  Floats tops = Constant(-infinity);
  Floats faults = hn::Zero(FloatTag());
  for (int64_t i = 0; i < count; i += lanes) {
    tops = hn::Max(tops, Cleaned(LoadSome(logits + i, count - i, -infinity), faults));
  }
  fault = Any(faults);
  top = hn::GetLane(hn::MaxOfLanes(FloatTag(), tops));
  const Floats base = Constant(top == -infinity ? 0.0F : top);
  sum = SumOfTerms<4>(count, [&](int64_t i, int64_t left) HWY_ATTR {
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
  const float sum = SumOfTerms<4>(count, [&](int64_t i, int64_t left) HWY_ATTR {
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

int64_t CompiledFor() { return HWY_TARGET; }

}  // namespace
}  // namespace foredraft::gpu_bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foredraft::gpu_bench {
namespace {

HWY_EXPORT(Multiply);
HWY_EXPORT(Softmax);
HWY_EXPORT(WeightedSum);
HWY_EXPORT(Activate);
HWY_EXPORT(AddNormalise);
HWY_EXPORT(SumOf);
HWY_EXPORT(TakeSoftmax);
HWY_EXPORT(WriteResiduals);
HWY_EXPORT(CompiledFor);

std::int64_t size_of(std::span<const float> values) { return static_cast<std::int64_t>(values.size()); }

}  // namespace

void multiply(const MatrixProduct& product) { HWY_DYNAMIC_DISPATCH(Multiply)(product); }

void softmax(float scale, std::span<float> scores) {
  HWY_DYNAMIC_DISPATCH(Softmax)(scale, scores.data(), size_of(scores));
}

void weighted_sum(std::span<const float> weights, const float* values, std::int64_t stride, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(WeightedSum)(weights.data(), size_of(weights), values, stride, out.data(), size_of(out));
}

void activate(latency::Activation function, std::span<const float> in, const float* gate, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(Activate)(function, in.data(), gate, out.data(), size_of(out));
}

void add_normalise(latency::Norm norm, std::span<float> stream, const float* delta, const float* gain,
                   const float* bias, float* out) {
  HWY_DYNAMIC_DISPATCH(AddNormalise)
  (norm == latency::Norm::layer, stream.data(), delta, gain, bias, out, size_of(stream));
}

float sum_of(std::span<const float> values) { return HWY_DYNAMIC_DISPATCH(SumOf)(values.data(), size_of(values)); }

SoftmaxPart softmax_part(std::span<const float> logits) {
  SoftmaxPart part;
  bool fault = false;
  HWY_DYNAMIC_DISPATCH(TakeSoftmax)
  (logits.data(), size_of(logits), part.top, part.sum, fault);
  part.fault = fault ? 1 : 0;
  return part;
}

WeightsSum residual_weights(const ScaledLogits& target, const ScaledLogits& draft, std::span<float> weights) {
  WeightsSum made{};
  made.sum = HWY_DYNAMIC_DISPATCH(WriteResiduals)(target, draft, weights.data(), size_of(weights), made.fault);
  return made;
}

std::string_view vector_instruction_set() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(CompiledFor)()); }

}  // namespace foredraft::gpu_bench
#endif
