// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace foredraft::gpu_bench {

/// Number of threads that shuffle with each other.
inline constexpr unsigned warp_lanes = 32;

/// Launch configuration of a kernel: a row of blocks.
struct LaunchShape {
  unsigned blocks;
  unsigned threads;       ///< per block; a multiple of warp_lanes
  unsigned shared_bytes;  ///< per block
};

/// Global memory in which the blocks of one kernel synchronize. Kernels run one after another, so they share it.
struct Workspace {
  float* floats;
  std::uint32_t* counters;  ///< zero between kernels
};

struct WorkspaceSize {
  std::int64_t floats = 0;
  std::int64_t counters = 0;
};

}  // namespace foredraft::gpu_bench

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define FOREDRAFT_HOST_DEVICE __host__ __device__
#else
#define FOREDRAFT_HOST_DEVICE
#endif
#ifdef __CUDA_ARCH__
#define FOREDRAFT_UNROLL _Pragma("unroll")
#define FOREDRAFT_PRAGMA(text) _Pragma(#text)
#define FOREDRAFT_UNROLL_BY(times) FOREDRAFT_PRAGMA(unroll times)
#else
#define FOREDRAFT_UNROLL
#define FOREDRAFT_UNROLL_BY(times)
#endif

/// Storage formats on every backend, and their conversion to and from the fp32 that kernels compute in.
namespace foredraft::gpu_bench {

struct Half {
  std::uint16_t bits;  ///< IEEE binary16
};
struct Bfloat16 {
  std::uint16_t bits;  ///< upper half of an IEEE binary32
};

FOREDRAFT_HOST_DEVICE inline float to_float(float value) { return value; }

FOREDRAFT_HOST_DEVICE inline float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}

FOREDRAFT_HOST_DEVICE inline float to_float(Half value) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(value.bits));
#else
  const std::uint32_t sign = (value.bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (value.bits >> 10U) & 0x1fU;
  const std::uint32_t mantissa = value.bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 0x1fU ? 0xffU : exponent + 112U;  // biases 15 and 127
  return std::bit_cast<float>(sign | (wide_exponent << 23U) | (mantissa << 13U));
#endif
}

/// Rounds to nearest, ties to even; out of range to infinity.
template <class Storage>
FOREDRAFT_HOST_DEVICE Storage from_float(float value);

template <>
FOREDRAFT_HOST_DEVICE inline float from_float<float>(float value) {
  return value;
}

template <>
FOREDRAFT_HOST_DEVICE inline Bfloat16 from_float<Bfloat16>(float value) {
#ifdef __CUDA_ARCH__
  return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U)};
#endif
}

template <>
FOREDRAFT_HOST_DEVICE inline Half from_float<Half>(float value) {
#ifdef __CUDA_ARCH__
  return {__half_as_ushort(__float2half_rn(value))};
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    magnitude = 0x7e00U;
  } else if (magnitude >= 0x47800000U) {  // 2^16
    magnitude = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // 2^-14: the sum's last place is that of the subnormals, 2^-24
    magnitude = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    magnitude = (magnitude + 0xfffU + ((magnitude >> 13U) & 1U) - 0x38000000U) >> 13U;
  }
  return {static_cast<std::uint16_t>(sign | magnitude)};
#endif
}

/// Elements that one thread moves at a time if sizes allow it: 16 bytes of a 16-bit type.
inline constexpr unsigned pack_elements = 8;

template <class Storage>
struct alignas(16) Pack {
  Storage values[pack_elements];
};

template <class Storage>
FOREDRAFT_HOST_DEVICE inline void unpack(const Pack<Storage>& pack, float (&to)[pack_elements]) {
  struct alignas(16) Words {
    std::uint32_t word[sizeof(pack) / sizeof(std::uint32_t)];
  };
  const auto words = std::bit_cast<Words>(pack);  // loaded as a whole, where elements would be loaded one by one
  FOREDRAFT_UNROLL
  for (unsigned i = 0; i < pack_elements; ++i) {
    if constexpr (sizeof(Storage) == sizeof(std::uint32_t)) {
      to[i] = to_float(std::bit_cast<Storage>(words.word[i]));
    } else {
      to[i] = to_float(Storage{static_cast<std::uint16_t>(words.word[i / 2] >> (i % 2 * 16))});
    }
  }
}

/// Reads `width` neighboring elements: 1, or pack_elements from an address that is a multiple of 16.
template <unsigned width, class Storage>
FOREDRAFT_HOST_DEVICE inline void load(const Storage* from, float (&to)[width]) {
  if constexpr (width == 1) {
    to[0] = to_float(*from);
  } else {
    static_assert(width == pack_elements);
    unpack(*reinterpret_cast<const Pack<Storage>*>(from), to);
  }
}

/// Two neighbors of 16 bits in a word, the first in its lower half.
template <class Storage>
FOREDRAFT_HOST_DEVICE inline std::uint32_t pair_of(float low, float high) {
  return from_float<Storage>(low).bits | static_cast<std::uint32_t>(from_float<Storage>(high).bits) << 16U;
}

/// Adds `width` neighboring elements to `to`.
template <unsigned width, class Storage>
FOREDRAFT_HOST_DEVICE inline void add_loaded(const Storage* from, float (&to)[width]) {
  float added[width];
  load<width>(from, added);
  FOREDRAFT_UNROLL
  for (unsigned i = 0; i < width; ++i) to[i] += added[i];
}

/// Reads the pack of a row that starts at element `begin`; `missing` from `end` on. `width` as for load().
template <unsigned width, class Storage>
FOREDRAFT_HOST_DEVICE inline void load_padded(const Storage* row, unsigned begin, unsigned end, float missing,
                                              float (&to)[pack_elements]) {
  if constexpr (width == pack_elements) {
    if (begin < end) {
      load<pack_elements>(row + begin, to);
      return;
    }
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < pack_elements; ++j) to[j] = missing;
  } else {
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < pack_elements; ++j) to[j] = begin + j < end ? to_float(row[begin + j]) : missing;
  }
}

/// The pack of a row that starts at element `begin`; zero from `end` on. `width` as for load().
template <unsigned width, class Storage>
FOREDRAFT_HOST_DEVICE inline Pack<Storage> load_pack(const Storage* row, unsigned begin, unsigned end) {
  if constexpr (width == pack_elements) {
    if (begin < end) return *reinterpret_cast<const Pack<Storage>*>(row + begin);
  }
  Pack<Storage> pack;
  FOREDRAFT_UNROLL
  for (unsigned j = 0; j < pack_elements; ++j) pack.values[j] = begin + j < end ? row[begin + j] : Storage{};
  return pack;
}

/// Calls use(width), a compile-time number: pack_elements where rows of this size start at multiples of a pack, else 1.
template <class Use>
void with_width(std::int64_t row_elements, const Use& use) {
  if (row_elements % pack_elements == 0) {
    use(std::integral_constant<unsigned, pack_elements>{});
  } else {
    use(std::integral_constant<unsigned, 1>{});
  }
}

template <unsigned width, class Storage>
FOREDRAFT_HOST_DEVICE inline void store(const float (&from)[width], Storage* to) {
  if constexpr (width == 1) {
    *to = from_float<Storage>(from[0]);
  } else {
    static_assert(width == pack_elements);
    Pack<Storage> pack;
    FOREDRAFT_UNROLL
    for (unsigned i = 0; i < width; ++i) pack.values[i] = from_float<Storage>(from[i]);
    *reinterpret_cast<Pack<Storage>*>(to) = pack;
  }
}

}  // namespace foredraft::gpu_bench
