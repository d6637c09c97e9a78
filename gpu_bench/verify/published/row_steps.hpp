// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/online_softmax.hpp"
#include "gpu_bench/verify/published/elementwise.hpp"
#include "gpu_bench/verify/verification.hpp"

/// Converts the row of the first rejection to the weights of the replacement token.
namespace foredraft::gpu_bench::published {

/// out[request, token] = body(input, request, position, token, drafted) of the row after the matches: one thread for
/// each token.
template <class Storage, class Body>
struct RowKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  const std::uint32_t* matches;  ///< [batch]
  Storage* out;                  ///< [batch, vocabulary]
  Body body;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = input.batch * divide_up(input.vocabulary, threads), .threads = threads, .shared_bytes = 0};
  }
  [[nodiscard]] Traffic traffic() const {
    const double bytes = static_cast<double>(input.batch) * input.vocabulary * sizeof(Storage);
    return {.read_bytes = Body::rows_read * bytes, .written_bytes = bytes};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned blocks_per_row = divide_up(input.vocabulary, block.threads());
    const unsigned request = block.block() / blocks_per_row;
    const unsigned token = block.block() % blocks_per_row * block.threads() + block.thread();
    if (token >= input.vocabulary) return;
    const unsigned position = matches[request];
    out[static_cast<std::int64_t>(request) * input.vocabulary + token] =
        body(input, request, position, token, has_draft(input, request, position));
  }
};

/// p - q; p after the last draft.
template <class Storage>
struct SubtractRows {
  static constexpr double rows_read = 2.0;

  const Storage* targets;  ///< [batch, gamma + 1, vocabulary]
  const Storage* drafts;   ///< [batch, gamma, vocabulary]

  [[nodiscard]] FOREDRAFT_HOST_DEVICE Storage operator()(const VerificationInput<Storage>& input, unsigned request,
                                                         unsigned position, unsigned token, bool drafted) const {
    const float target = to_float(targets[row_of(request, input.gamma + 1, position) * input.vocabulary + token]);
    const float draft =
        drafted ? to_float(drafts[row_of(request, input.gamma, position) * input.vocabulary + token]) : 0.0F;
    return from_float<Storage>(target - draft);
  }
};

/// residual / sum; p itself after the last draft.
template <class Storage>
struct DivideRow {
  static constexpr double rows_read = 1.0;

  const Storage* residuals;  ///< [batch, residual_rows, vocabulary]
  const Storage* sums;       ///< [batch, residual_rows]
  const Storage* targets;    ///< [batch, gamma + 1, vocabulary]
  unsigned residual_rows;    ///< gamma, or 1: only that row

  [[nodiscard]] FOREDRAFT_HOST_DEVICE Storage operator()(const VerificationInput<Storage>& input, unsigned request,
                                                         unsigned position, unsigned token, bool drafted) const {
    if (!drafted) return targets[row_of(request, input.gamma + 1, position) * input.vocabulary + token];
    const std::int64_t row = row_of(request, residual_rows, residual_rows == 1 ? 0 : position);
    return from_float<Storage>(to_float(residuals[row * input.vocabulary + token]) / to_float(sums[row]));
  }
};

/// Number of final rows of a request: the target has one after its last draft, the drafter does not.
enum class RowsOf : unsigned { drafter = 0, target = 1 };

/// Probabilities of each row of logits, rounded to the storage type: one block per row, which reads it twice (maximum
/// and sum; then the probabilities) and writes it once. Rows without a draft are neither read nor written.
template <class Storage, unsigned width_of_access>
struct SoftmaxRowsKernel {
  static constexpr unsigned max_threads = 1024;

  VerificationInput<Storage> input;
  RowsOf rows_of;
  Storage* out;               ///< [batch, gamma + (0 or 1), vocabulary]
  std::uint32_t* row_faults;  ///< [batch, gamma + (0 or 1)]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = input.batch * rows(),
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(threads / warp_lanes * sizeof(SoftmaxPart))};
  }
  [[nodiscard]] Traffic traffic() const {
    const double elements = static_cast<double>(input.batch) * rows() * input.vocabulary;
    return {.read_bytes = 2.0 * elements * sizeof(Storage), .written_bytes = elements * sizeof(Storage)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    const unsigned request = block.block() / rows();
    const unsigned position = block.block() % rows();
    if (position >= draft_count(block, input, request) + static_cast<unsigned>(rows_of)) {
      if (block.thread() == 0) row_faults[block.block()] = 0;
      return;
    }
    const std::int64_t first = static_cast<std::int64_t>(block.block()) * input.vocabulary;
    const Storage* from = (rows_of == RowsOf::target ? input.target_logits : input.draft_logits) + first;
    SoftmaxPart part;
    for (unsigned i = block.thread() * n; i < input.vocabulary; i += block.threads() * n) {
      float logits[n];
      load<n>(from + i, logits);
      add_logits(logits, part);
    }
    part = block_merged(block, part, reinterpret_cast<SoftmaxPart*>(block.shared()));
    const RowSoftmax softmax(part);
    for (unsigned i = block.thread() * n; i < input.vocabulary; i += block.threads() * n) {
      float values[n];
      load<n>(from + i, values);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) values[j] = softmax.probability(clean_logit(values[j]));
      store<n>(values, out + first + i);
    }
    if (block.thread() == 0) row_faults[block.block()] = part.sum > 0.0F ? part.fault : 1U;
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return input.gamma + static_cast<unsigned>(rows_of); }
};

template <class Storage, class Launcher>
void softmax_rows(const VerificationInput<Storage>& input, RowsOf rows_of, Storage* out, std::uint32_t* row_faults,
                  Launcher& launcher) {
  with_width(input.vocabulary, [&](auto width) {
    launcher.launch(SoftmaxRowsKernel<Storage, width.value>{
        .input = input, .rows_of = rows_of, .out = out, .row_faults = row_faults});
  });
}

}  // namespace foredraft::gpu_bench::published
