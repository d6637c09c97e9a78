// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/choose.hpp"
#include "gpu_bench/verify/online_softmax.hpp"

/// The weights from which the token after accepted drafts is sampled: max(0, p - q) [Leviathan2023, Alg. 1], and p in
/// case there is no residual.
namespace foredraft::gpu_bench {

/// Sums of weights over a chunk or a split of the row from which a token is sampled.
struct WeightSums {
  float residual = 0.0F;    ///< max(0, p - q); p after the last draft
  float target = 0.0F;      ///< p
  std::uint32_t fault = 0;  ///< 1 if a logit was NaN or +inf
};

struct TokenWeights {
  float residual[pack_elements];
  float target[pack_elements];
  std::uint32_t fault = 0;
};

/// The row of the position at which a token is sampled.
template <class Storage>
struct DrawnRow {
  const Storage* target;
  const Storage* draft;  ///< null after the last draft
  RowSoftmax target_softmax;
  RowSoftmax draft_softmax;
};

/// This lane's tokens of `chunks` chunks that are `stride` tokens apart, from `first` on; 0 from `end` on. `width` as
/// for load().
template <unsigned width, unsigned chunks, class Storage>
FOREDRAFT_HOST_DEVICE inline void weigh(const DrawnRow<Storage>& row, unsigned first, unsigned stride, unsigned end,
                                        TokenWeights (&weights)[chunks]) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  FOREDRAFT_UNROLL
  for (unsigned c = 0; c < chunks; ++c) {
    load_padded<width>(row.target, first + c * stride, end, nothing, weights[c].target);
    load_padded<width>(row.draft, row.draft == nullptr ? end : first + c * stride, end, nothing, weights[c].residual);
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

/// The bitwise or over the lanes of a warp, in all of them.
template <class Block>
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline std::uint32_t lane_any(Block& block, std::uint32_t value) {
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) value |= block.shuffle_xor(value, mask);
  return value;
}

// ---- Division of a row over blocks, and reading of a block's share.

/// Tokens of a share that 256 threads read with four packs of each in flight.
inline constexpr unsigned tokens_per_split = 32 * chunk_tokens;

/// Number of blocks that share a row. Depends only on the vocabulary, so that the result of a row does not depend on
/// the rest of the batch.
[[nodiscard]] constexpr unsigned splits_of_row(unsigned vocabulary) { return divide_up(vocabulary, tokens_per_split); }

/// Tokens [begin, end) of a row; begin is a multiple of chunk_tokens where there are any.
struct RowSpan {
  unsigned begin, end;
};

[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr RowSpan span_of_split(unsigned vocabulary, unsigned split,
                                                                    unsigned splits) {
  const unsigned size = divide_up(divide_up(vocabulary, chunk_tokens), splits) * chunk_tokens;
  const unsigned begin = split * size < vocabulary ? split * size : vocabulary;
  return {begin, vocabulary - begin < size ? vocabulary : begin + size};
}

/// Cleans logits; returns whether any was invalid. Costs one comparison per valid logit.
template <unsigned count>
FOREDRAFT_HOST_DEVICE inline bool clean_logits(float (&logits)[count]) {
  bool faulty = false;
  FOREDRAFT_UNROLL
  for (unsigned j = 0; j < count; ++j) faulty = is_faulty(logits[j]) || faulty;
  if (faulty) {
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < count; ++j) logits[j] = clean_logit(logits[j]);
  }
  return faulty;
}

/// Passes the cleaned logits that this thread reads to take(const float (&logits)[width], unsigned first_token, bool
/// were_faulty), in ascending order of tokens.
template <unsigned width, class Block, class Storage, class Take>
FOREDRAFT_HOST_DEVICE inline void scan_row(Block& block, const Storage* row, RowSpan span, const Take& take) {
  constexpr unsigned ahead = tokens_per_split / 256 / pack_elements;
  const unsigned stride = block.threads() * width;
  for (unsigned first = span.begin + block.thread() * width; first < span.end; first += ahead * stride) {
    float logits[ahead][width];
    FOREDRAFT_UNROLL
    for (unsigned i = 0; i < ahead; ++i) {
      const unsigned token = first + i * stride;
      // No branch delays the loads after it; beyond the end all threads read one place.
      load<width>(row + (token < span.end ? token : span.begin), logits[i]);
    }
    FOREDRAFT_UNROLL
    for (unsigned i = 0; i < ahead; ++i) {
      const unsigned token = first + i * stride;
      if (token < span.end) {
        const bool faulty = clean_logits(logits[i]);
        take(logits[i], token, faulty);
      }
    }
  }
}

}  // namespace foredraft::gpu_bench
