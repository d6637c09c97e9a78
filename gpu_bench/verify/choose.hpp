// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "gpu_bench/kernels/reduce.hpp"

/// Sampling of a token by inverse CDF over ascending tokens, in levels: sums of a few tokens, then of more, are kept;
/// the draw selects one of them, and only that one is read again. Weights and sums of up to `chunk_tokens` are fp32,
/// additions and comparisons of these sums double.
namespace foredraft::gpu_bench {

/// Tokens that one warp sums at a time: eight neighbors per lane.
inline constexpr unsigned chunk_tokens = warp_lanes * pack_elements;

/// Index of the weight that a threshold selects, and the position within it.
struct Choice {
  unsigned index;
  double rest;
};

/// The weight at which the cumulative sum of `count` weights passes `threshold`: of those that are not 0, the last that
/// begins at or below it. So a threshold that rounding left at the total or above gives the last of them; if all are 0,
/// the first weight.
template <class Weight>
FOREDRAFT_HOST_DEVICE inline Choice choose(unsigned count, double threshold, const Weight& weight) {
  Choice choice{0, 0.0};
  double before = 0.0;
  for (unsigned i = 0; i < count; ++i) {
    const auto mine = static_cast<double>(weight(i));
    if (mine > 0.0 && before <= threshold) choice = {i, threshold - before};
    before += mine;
  }
  return choice;
}

/// The sum of a chunk, in all lanes of its warp: eight neighbors in order, then a tree of lanes.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float chunk_sum(Block& block, const float (&weights)[pack_elements]) {
  float sum = 0.0F;
  FOREDRAFT_UNROLL
  for (unsigned j = 0; j < pack_elements; ++j) sum += weights[j];
  return lane_sum(block, sum);
}

/// The token of a chunk that `threshold` selects, counted from the chunk's first. All threads of the block must call
/// it; the weights are those of its first warp. `scratch`: chunk_tokens + warp_lanes floats, reusable after the next
/// sync.
template <class Block>
FOREDRAFT_HOST_DEVICE inline unsigned choose_in_chunk(Block& block, const float (&weights)[pack_elements],
                                                      double threshold, float* scratch) {
  float* lane_sums = scratch + chunk_tokens;
  if (block.thread() < warp_lanes) {
    float sum = 0.0F;
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < pack_elements; ++j) {
      scratch[block.thread() * pack_elements + j] = weights[j];
      sum += weights[j];
    }
    lane_sums[block.thread()] = sum;
  }
  block.sync();
  const Choice lane = choose(warp_lanes, threshold, [&](unsigned i) { return lane_sums[i]; });
  const float* of_lane = scratch + std::size_t{lane.index} * pack_elements;
  return lane.index * pack_elements + choose(pack_elements, lane.rest, [&](unsigned j) { return of_lane[j]; }).index;
}

}  // namespace foredraft::gpu_bench
