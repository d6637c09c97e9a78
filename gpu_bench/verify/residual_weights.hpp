// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/choose.hpp"
#include "gpu_bench/verify/online_softmax.hpp"

/// The weights that a token behind accepted drafts is drawn by: max(0, p - q) [Leviathan2023, Alg. 1], and p beside it
/// for where there is no residual.
namespace foredraft::gpu_bench {

/// Sums of weights over a chunk or a split of the row that a token is drawn from.
struct WeightSums {
  float residual = 0.0F;    ///< max(0, p - q); p behind the last draft
  float target = 0.0F;      ///< p
  std::uint32_t fault = 0;  ///< 1 where a logit was NaN or +inf
};

/// The weights of eight tokens.
struct TokenWeights {
  float residual[pack_elements];
  float target[pack_elements];
  std::uint32_t fault = 0;
};

/// The row of the position that a token is drawn from.
template <class Storage>
struct DrawnRow {
  const Storage* target;
  const Storage* draft;  ///< null behind the last draft
  RowSoftmax target_softmax;
  RowSoftmax draft_softmax;
};

/// Of `chunks` chunks that are `stride` tokens apart, this lane's tokens, from `first` on; 0 from `end` on. `width` as
/// for load().
template <unsigned width, unsigned chunks, class Storage>
FOREDRAFT_HOST_DEVICE inline void weigh(const DrawnRow<Storage>& row, unsigned first, unsigned stride, unsigned end,
                                        TokenWeights (&weights)[chunks]) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  FOREDRAFT_UNROLL
  for (unsigned c = 0; c < chunks; ++c) {
    load_lane_of_chunk<width>(row.target, first + c * stride, end, nothing, weights[c].target);
    load_lane_of_chunk<width>(row.draft, row.draft == nullptr ? end : first + c * stride, end, nothing,
                              weights[c].residual);
  }
  FOREDRAFT_UNROLL
  for (unsigned c = 0; c < chunks; ++c) {
    TokenWeights& mine = weights[c];
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < pack_elements; ++j) {
      if (is_faulty(mine.target[j]) || is_faulty(mine.residual[j])) mine.fault = 1;
      const float p = row.target_softmax.probability(clean_logit(mine.target[j]));
      const float q = row.draft_softmax.probability(clean_logit(mine.residual[j]));
      mine.target[j] = p;
      mine.residual[j] = p > q ? p - q : 0.0F;
    }
  }
}

/// The bits that any lane of a warp has, in all of them.
template <class Block>
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline std::uint32_t lane_any(Block& block, std::uint32_t value) {
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) value |= block.shuffle_xor(value, mask);
  return value;
}

}  // namespace foredraft::gpu_bench
