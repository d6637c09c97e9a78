// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <limits>

#include "gpu_bench/kernels/storage.hpp"

/// Sums and reductions within a block and between blocks, in a fixed order.
namespace foredraft::gpu_bench {

/// The sum over the lanes of each aligned group of `lanes`, a power of two, in all of them.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float lane_sum(Block& block, float value, unsigned lanes = warp_lanes) {
  for (unsigned mask = lanes / 2; mask > 0; mask /= 2) value += block.shuffle_xor(value, mask);
  return value;
}

/// The largest value in a warp, in all of its lanes.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float lane_top(Block& block, float value) {
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) {
    const float other = block.shuffle_xor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}

/// Sums each of `count` values over the lanes of each aligned group of `lanes`; both are powers of two, and lanes the
/// larger. Lane l of a group gets the sum of value l / (lanes / count): fewer shuffles than lane_sum() for each.
template <unsigned count, class Block>
FOREDRAFT_HOST_DEVICE inline float scattered_lane_sum(Block& block, const float (&values)[count], unsigned lanes) {
  if constexpr (count == 1) {
    return lane_sum(block, values[0], lanes);
  } else {
    const unsigned mask = lanes / 2;
    const bool upper = (block.thread() & mask) != 0;
    float half[count / 2];
    FOREDRAFT_UNROLL
    for (unsigned i = 0; i < count / 2; ++i) {
      const float given = upper ? values[i] : values[i + count / 2];
      half[i] = (upper ? values[i + count / 2] : values[i]) + block.shuffle_xor(given, mask);
    }
    return scattered_lane_sum(block, half, mask);
  }
}

/// The sum over the threads of a block, in all of them. `scratch`: one float per warp, reusable after the next sync.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float block_sum(Block& block, float value, float* scratch) {
  value = lane_sum(block, value);
  if (block.thread() % warp_lanes == 0) scratch[block.thread() / warp_lanes] = value;
  block.sync();
  float sum = 0.0F;
  for (unsigned warp = 0; warp < block.threads() / warp_lanes; ++warp) sum += scratch[warp];
  return sum;
}

// ---- Merging of what threads, warps and blocks know of a row. A part is a struct of 32-bit words, neutral when
// default-constructed, with a function merged(a, b).

/// The part of the lane whose number differs by `mask`.
template <class Part, class Block>
FOREDRAFT_HOST_DEVICE inline Part shuffled_part(Block& block, const Part& part, unsigned mask) {
  constexpr unsigned count = sizeof(Part) / sizeof(std::uint32_t);
  static_assert(count * sizeof(std::uint32_t) == sizeof(Part));
  struct Words {
    std::uint32_t word[count];
  };
  auto words = std::bit_cast<Words>(part);
  FOREDRAFT_UNROLL
  for (unsigned i = 0; i < count; ++i) words.word[i] = block.shuffle_xor(words.word[i], mask);
  return std::bit_cast<Part>(words);
}

/// Merges over the threads of a block, in fixed trees; the same bits in all of them. `scratch`: one part per warp,
/// reusable after the next sync.
template <class Part, class Block>
FOREDRAFT_HOST_DEVICE inline Part block_merged(Block& block, Part part, Part* scratch) {
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) part = merged(part, shuffled_part(block, part, mask));
  if (block.thread() % warp_lanes == 0) scratch[block.thread() / warp_lanes] = part;
  block.sync();
  part = scratch[0];
  for (unsigned warp = 1; warp < block.threads() / warp_lanes; ++warp) part = merged(part, scratch[warp]);
  return part;
}

// ---- Blocks that share a row.

/// Returns true in the block that arrives last of `parties`, which then sees the writes of the others. `counter` is
/// zero before and after. `flag`: a word of shared memory.
template <class Block>
FOREDRAFT_HOST_DEVICE inline bool comes_last(Block& block, unsigned parties, std::uint32_t* counter,
                                             std::uint32_t* flag) {
  block.fence();
  block.sync();
  if (block.thread() == 0) {
    const bool last = block.atomic_add(counter, 1U) == parties - 1;
    if (last) *counter = 0;
    *flag = last ? 1U : 0U;
  }
  block.sync();
  block.fence();
  return *flag != 0U;
}

FOREDRAFT_HOST_DEVICE constexpr unsigned divide_up(unsigned value, unsigned by) { return (value + by - 1) / by; }

/// A number that a kernel divides by: multiplies by the inverse that the host found. Exact for dividends below
/// 2^32 / value.
struct Divisor {
  unsigned value;
  std::uint64_t inverse;

  // NOLINTNEXTLINE(google-explicit-constructor): it is a number
  constexpr Divisor(unsigned number) : value(number), inverse(((std::uint64_t{1} << 32U) + number - 1) / number) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is a number
  FOREDRAFT_HOST_DEVICE constexpr operator unsigned() const { return value; }
  FOREDRAFT_HOST_DEVICE friend constexpr unsigned operator/(unsigned dividend, const Divisor& by) {
    return static_cast<unsigned>((dividend * by.inverse) >> 32U);
  }
};

/// 1 / value, on a device to within two units in the last place, in little code.
FOREDRAFT_HOST_DEVICE inline float reciprocal(float value) {
#ifdef __CUDA_ARCH__
  return __fdividef(1.0F, value);
#else
  return 1.0F / value;
#endif
}

/// Operation PickToken: a row is split over `splits` blocks; the last of them to finish picks among their picks.
template <class Storage, unsigned width_of_access>
struct PickTokenKernel {
  static constexpr unsigned max_threads = 256;

  const Storage* logits;
  std::int32_t* out;
  float* best_logits;          ///< rows * splits
  std::uint32_t* best_tokens;  ///< rows * splits
  std::uint32_t* counters;     ///< rows, zero
  unsigned rows;
  unsigned vocabulary;
  unsigned splits;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = rows * splits,
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(threads / warp_lanes * sizeof(Pick) + sizeof(std::uint32_t))};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    const unsigned row = block.block() / splits;
    const unsigned split = block.block() % splits;
    const unsigned per_split = divide_up(divide_up(vocabulary, n), splits) * n;
    const unsigned end = (split + 1) * per_split < vocabulary ? (split + 1) * per_split : vocabulary;
    const Storage* from = logits + static_cast<std::int64_t>(row) * vocabulary;

    Pick mine;
    for (unsigned i = split * per_split + block.thread() * n; i < end; i += block.threads() * n) {
      float values[n];
      load<n>(from + i, values);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) mine = merged(mine, {values[j], i + j});
    }
    auto* scratch = reinterpret_cast<Pick*>(block.shared());
    mine = block_merged(block, mine, scratch);
    if (splits == 1) {
      if (block.thread() == 0) out[row] = token_id(mine);
      return;
    }
    if (block.thread() == 0) {
      best_logits[block.block()] = mine.logit;
      best_tokens[block.block()] = mine.token;
    }
    auto* flag = reinterpret_cast<std::uint32_t*>(scratch + block.threads() / warp_lanes);
    if (!comes_last(block, splits, counters + row, flag) || block.thread() != 0) return;
    mine = Pick{};
    for (unsigned i = row * splits; i < (row + 1) * splits; ++i) mine = merged(mine, {best_logits[i], best_tokens[i]});
    out[row] = token_id(mine);
  }

 private:
  static constexpr std::uint32_t no_token = 0xffffffffU;

  struct Pick {
    float logit = -std::numeric_limits<float>::infinity();
    std::uint32_t token = no_token;

    FOREDRAFT_HOST_DEVICE friend Pick merged(const Pick& a, const Pick& b) {
      return b.logit > a.logit || (b.logit == a.logit && b.token < a.token) ? b : a;
    }
  };

  /// Token 0 if every logit is NaN: the next embedding must find a row.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static std::int32_t token_id(const Pick& pick) {
    return pick.token == no_token ? 0 : static_cast<std::int32_t>(pick.token);
  }
};

}  // namespace foredraft::gpu_bench
