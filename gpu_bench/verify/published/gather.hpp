// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/draft_count.hpp"
#include "gpu_bench/verify/published/elementwise.hpp"

namespace foredraft::gpu_bench::published {

/// Blocks whose threads have one token each of one row a request.
template <class Storage>
[[nodiscard]] LaunchShape row_shape(const VerificationInput<Storage>& input, unsigned threads) {
  return {.blocks = input.batch * divide_up(input.vocabulary, threads), .threads = threads, .shared_bytes = 0};
}

/// Which of them a thread has.
struct RowElement {
  unsigned request;
  unsigned token;  ///< the vocabulary's size or more: none

  template <class Storage, class Block>
  FOREDRAFT_HOST_DEVICE RowElement(const VerificationInput<Storage>& input, Block& block)
      : request(block.block() / divide_up(input.vocabulary, block.threads())),
        token(block.block() % divide_up(input.vocabulary, block.threads()) * block.threads() + block.thread()) {}
};

/// Where row `position` of a request starts, in rows.
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline std::int64_t row_of(unsigned request, unsigned rows_per_request,
                                                               unsigned position) {
  return static_cast<std::int64_t>(request) * rows_per_request + position;
}

/// Whether a draft stands behind `matches` accepted ones.
template <class Storage>
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline bool has_draft(const VerificationInput<Storage>& input, unsigned request,
                                                          unsigned matches) {
  return matches < static_cast<unsigned>(input.draft_counts[request]) &&
         static_cast<std::uint32_t>(input.drafts[static_cast<std::int64_t>(request) * input.gamma + matches]) <
             input.vocabulary;
}

/// out[request, position] = rows[request, position, draft], what a tensor gives that is indexed by tensors; 0 behind
/// the last draft.
template <class Storage>
struct GatherKernel {
  static constexpr unsigned max_threads = 128;

  VerificationInput<Storage> input;
  const Storage* rows;  ///< [batch, rows_per_request, vocabulary]
  unsigned rows_per_request;
  Storage* out;  ///< [batch, gamma]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return {.blocks = input.batch, .threads = threads, .shared_bytes = 0}; }
  [[nodiscard]] latency::Work work() const {
    const double elements = static_cast<double>(input.batch) * input.gamma;
    return {.read_bytes = elements * (sizeof(Storage) + sizeof(std::int32_t)),
            .written_bytes = elements * sizeof(Storage),
            .flop = 0.0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned request = block.block();
    const unsigned count = draft_count(block, input, request);
    const std::int64_t first = row_of(request, input.gamma, 0);
    for (unsigned position = block.thread(); position < input.gamma; position += block.threads()) {
      out[first + position] =
          position < count
              ? rows[row_of(request, rows_per_request, position) * input.vocabulary + input.drafts[first + position]]
              : from_float<Storage>(0.0F);
    }
  }
};

/// out[request] = whether a draft stands behind the matches: what the host compares before it picks a row.
template <class Storage>
struct HasDraftKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  const std::uint32_t* matches;  ///< [batch]
  std::uint8_t* out;             ///< [batch]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return elementwise_shape(input.batch, threads); }
  [[nodiscard]] latency::Work work() const {
    return {.read_bytes = static_cast<double>(input.batch) * sizeof(std::uint32_t),
            .written_bytes = static_cast<double>(input.batch),
            .flop = 0.0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const std::int64_t i = element_of(block);
    if (i >= input.batch) return;
    const auto request = static_cast<unsigned>(i);
    out[request] = has_draft(input, request, matches[request]) ? 1 : 0;
  }
};

}  // namespace foredraft::gpu_bench::published
