// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/choose.hpp"
#include "gpu_bench/verify/online_softmax.hpp"

/// How blocks share a row, and how a block reads its share.
namespace foredraft::gpu_bench {

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
