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

// ---- How blocks share a row, and how a block reads its share.

/// Tokens of a share that 256 threads read with four packs of each in flight.
inline constexpr unsigned tokens_per_split = 32 * chunk_tokens;

/// Blocks that share a row. It depends on the vocabulary alone, so that what a row says does not depend on the batch
/// around it.
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

/// Makes logits clean; whether any was not. What one costs that is a number: a comparison.
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

/// Hands the logits that this thread reads, made clean, to take(const float (&logits)[width], unsigned first_token,
/// bool were_faulty), tokens rising.
template <unsigned width, class Block, class Storage, class Take>
FOREDRAFT_HOST_DEVICE inline void scan_row(Block& block, const Storage* row, RowSpan span, const Take& take) {
  constexpr unsigned ahead = tokens_per_split / 256 / pack_elements;
  const unsigned stride = block.threads() * width;
  for (unsigned first = span.begin + block.thread() * width; first < span.end; first += ahead * stride) {
    float logits[ahead][width];
    FOREDRAFT_UNROLL
    for (unsigned i = 0; i < ahead; ++i) {
      const unsigned token = first + i * stride;
      // No branch holds up the loads behind it; behind the end all threads read one place.
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
