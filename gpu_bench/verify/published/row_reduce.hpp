// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/elementwise.hpp"

namespace foredraft::gpu_bench::published {

struct Sum {
  static constexpr float none = 0.0F;
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a + b; }
};
/// NaN if any is, as in the library.
struct Largest {
  static constexpr float none = -std::numeric_limits<float>::infinity();
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a > b || a != a ? a : b; }
};
struct Smallest {
  static constexpr float none = std::numeric_limits<float>::infinity();
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a < b || a != a ? a : b; }
};

/// Number of blocks that share a row; depends only on its length.
[[nodiscard]] inline unsigned reduce_splits(unsigned columns) {
  constexpr unsigned columns_per_block = 4096;
  return columns <= columns_per_block ? 1 : divide_up(columns, columns_per_block);
}

/// out[row] = Reduction over in[row, 0 .. columns). A row is split over blocks; the last of them merges the parts.
template <class Reduction, class In, class Out>
struct ReduceKernel {
  static constexpr unsigned max_threads = 256;

  const In* in;
  Out* out;
  float* parts;             ///< rows * reduce_splits(columns)
  std::uint32_t* counters;  ///< rows, zero
  unsigned rows;
  unsigned columns;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = rows * reduce_splits(columns),
            .threads = threads,
            .shared_bytes = static_cast<unsigned>((threads / warp_lanes + 1) * sizeof(float))};
  }
  [[nodiscard]] Traffic traffic() const {
    return {.read_bytes = static_cast<double>(rows) * columns * sizeof(In),
            .written_bytes = static_cast<double>(rows) * sizeof(Out)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned splits = divide_up(block.blocks(), rows);
    const unsigned row = block.block() / splits;
    const unsigned split = block.block() % splits;
    const unsigned per_split = divide_up(columns, splits);
    const unsigned end = (split + 1) * per_split < columns ? (split + 1) * per_split : columns;
    const In* from = in + static_cast<std::int64_t>(row) * columns;
    float mine = Reduction::none;
    for (unsigned i = split * per_split + block.thread(); i < end; i += block.threads()) {
      mine = Reduction::of(mine, number(from[i]));
    }
    mine = over_block(block, mine);
    if (splits == 1) {
      if (block.thread() == 0) out[row] = stored<Out>(mine);
      return;
    }
    if (block.thread() == 0) parts[block.block()] = mine;
    auto* flag = reinterpret_cast<std::uint32_t*>(block.shared()) + block.threads() / warp_lanes;
    if (!comes_last(block, splits, counters + row, flag) || block.thread() != 0) return;
    mine = Reduction::none;
    for (unsigned i = row * splits; i < (row + 1) * splits; ++i) mine = Reduction::of(mine, parts[i]);
    out[row] = stored<Out>(mine);
  }

 private:
  template <class Block>
  FOREDRAFT_HOST_DEVICE static float over_block(Block& block, float value) {
    auto* of_warps = reinterpret_cast<float*>(block.shared());
    for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2)
      value = Reduction::of(value, block.shuffle_xor(value, mask));
    if (block.thread() % warp_lanes == 0) of_warps[block.thread() / warp_lanes] = value;
    block.sync();
    value = Reduction::none;
    for (unsigned warp = 0; warp < block.threads() / warp_lanes; ++warp) value = Reduction::of(value, of_warps[warp]);
    return value;
  }
};

template <class Reduction, class In, class Out, class Launcher>
void reduce(const In* in, Out* out, float* parts, std::uint32_t* counters, unsigned rows, unsigned columns,
            Launcher& launcher) {
  launcher.launch(ReduceKernel<Reduction, In, Out>{
      .in = in, .out = out, .parts = parts, .counters = counters, .rows = rows, .columns = columns});
}

/// The largest number of a storage type below 1.
template <class Storage>
inline constexpr float largest_below_one = 0x1.fffffep-1F;
template <>
inline constexpr float largest_below_one<Half> = 0x1.ffcp-1F;
template <>
inline constexpr float largest_below_one<Bfloat16> = 0x1.fep-1F;

/// A tensor of uniform random numbers on [0, 1) in the storage type: values that round to 1 become the number below.
template <class Storage>
struct AcceptDraws {
  DrawStream draws;
  Storage* out;  ///< [batch, gamma]
  unsigned gamma;
  std::int64_t elements;  ///< batch * gamma

  [[nodiscard]] static Traffic traffic_of_one() { return {.read_bytes = 0.0, .written_bytes = sizeof(Storage)}; }
  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i) const {
    const double uniform =
        draw_uniform(draws, Purpose::accept, static_cast<unsigned>(i / gamma), static_cast<std::uint32_t>(i % gamma));
    const auto rounded = from_float<Storage>(static_cast<float>(uniform));
    out[i] = to_float(rounded) < 1.0F ? rounded : from_float<Storage>(largest_below_one<Storage>);
  }
};

/// out[row, i] = in[row, 0] + ... + in[row, i]: one block per row, in tiles of as many elements as threads.
struct CumulativeSumKernel {
  static constexpr unsigned max_threads = 256;

  const std::uint32_t* in;
  std::uint32_t* out;
  unsigned rows;
  unsigned columns;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = rows, .threads = threads, .shared_bytes = static_cast<unsigned>(threads * sizeof(std::uint32_t))};
  }
  [[nodiscard]] Traffic traffic() const {
    const double elements = static_cast<double>(rows) * columns;
    return {.read_bytes = elements * sizeof(std::uint32_t), .written_bytes = elements * sizeof(std::uint32_t)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    auto* tile = reinterpret_cast<std::uint32_t*>(block.shared());
    const unsigned thread = block.thread();
    const std::int64_t row = static_cast<std::int64_t>(block.block()) * columns;
    std::uint32_t before = 0;
    for (unsigned start = 0; start < columns; start += block.threads()) {
      tile[thread] = start + thread < columns ? in[row + start + thread] : 0U;
      block.sync();
      for (unsigned step = 1; step < block.threads(); step *= 2) {
        const std::uint32_t left = thread >= step ? tile[thread - step] : 0U;
        block.sync();
        tile[thread] += left;
        block.sync();
      }
      if (start + thread < columns) out[row + start + thread] = before + tile[thread];
      before += tile[block.threads() - 1];
      block.sync();
    }
  }
};

template <class Storage>
struct MatchTensors {
  WorkspaceCutter& cutter;
  std::int64_t batch, gamma;
  Storage* uniforms = cutter.tensor<Storage>(batch * gamma);
  std::uint8_t* accepted = cutter.tensor<std::uint8_t>(batch * gamma);
  std::uint8_t* rejected = cutter.tensor<std::uint8_t>(batch * gamma);
  std::uint32_t* rejections = cutter.tensor<std::uint32_t>(batch * gamma);
  std::uint32_t* cumulative = cutter.tensor<std::uint32_t>(batch * gamma);
  std::uint8_t* matched = cutter.tensor<std::uint8_t>(batch * gamma);
  std::uint32_t* matches = cutter.tensor<std::uint32_t>(batch);  ///< drafts before the first rejection
};

/// matches = sum(cumsum(~(uniform < ratio)) < 1), as the library computes it: seven launches. The library accepts if
/// uniform <= ratio, so also a token of probability 0 with a uniform of 0; here it is rejected. Empty tensors take no
/// launch.
template <class Storage, class Launcher>
void count_matches(const VerificationInput<Storage>& input, const Storage* ratios, const MatchTensors<Storage>& tensors,
                   Launcher& launcher) {
  const std::int64_t elements = static_cast<std::int64_t>(input.batch) * input.gamma;
  if (elements > 0) {
    launch_elementwise(launcher,
                       AcceptDraws<Storage>{
                           .draws = input.draws, .out = tensors.uniforms, .gamma = input.gamma, .elements = elements});
    combine<Less>(static_cast<const Storage*>(tensors.uniforms), ratios, tensors.accepted, elements, launcher);
    map<Not>(tensors.accepted, tensors.rejected, elements, launcher);
    map<Convert>(tensors.rejected, tensors.rejections, elements, launcher);
    launcher.launch(CumulativeSumKernel{
        .in = tensors.rejections, .out = tensors.cumulative, .rows = input.batch, .columns = input.gamma});
    map<IsZero>(tensors.cumulative, tensors.matched, elements, launcher);
  }
  reduce<Sum>(tensors.matched, tensors.matches, nullptr, nullptr, input.batch, input.gamma, launcher);
}

}  // namespace foredraft::gpu_bench::published
