// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/online_softmax.hpp"
#include "gpu_bench/verify/published/elementwise.hpp"
#include "gpu_bench/verify/verification.hpp"

/// Converts the row of the first rejection to the weights of the replacement token.
namespace foredraft::gpu_bench::published {

/// out[request] = p - q of the row after the matches; p after the last draft.
template <class Storage>
struct SubtractRowsKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  const Storage* targets;        ///< [batch, gamma + 1, vocabulary]
  const Storage* drafts;         ///< [batch, gamma, vocabulary]
  const std::uint32_t* matches;  ///< [batch]
  Storage* out;                  ///< [batch, vocabulary]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return row_shape(input, threads); }
  [[nodiscard]] latency::Work work() const {
    const double elements = static_cast<double>(input.batch) * input.vocabulary;
    return {
        .read_bytes = 2.0 * elements * sizeof(Storage), .written_bytes = elements * sizeof(Storage), .flop = elements};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const RowElement at(input, block);
    if (at.token >= input.vocabulary) return;
    const unsigned position = matches[at.request];
    const float target = to_float(targets[row_of(at.request, input.gamma + 1, position) * input.vocabulary + at.token]);
    const float draft = has_draft(input, at.request, position)
                            ? to_float(drafts[row_of(at.request, input.gamma, position) * input.vocabulary + at.token])
                            : 0.0F;
    out[static_cast<std::int64_t>(at.request) * input.vocabulary + at.token] = from_float<Storage>(target - draft);
  }
};

/// out[request] = residual / sum of the row after the matches; p itself after the last draft.
template <class Storage>
struct DivideRowKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  const Storage* residuals;      ///< [batch, residual_rows, vocabulary]
  const Storage* sums;           ///< [batch, residual_rows]
  const Storage* targets;        ///< [batch, gamma + 1, vocabulary]
  const std::uint32_t* matches;  ///< [batch]
  Storage* out;                  ///< [batch, vocabulary]
  unsigned residual_rows;        ///< gamma, or 1: only that row
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return row_shape(input, threads); }
  [[nodiscard]] latency::Work work() const {
    const double elements = static_cast<double>(input.batch) * input.vocabulary;
    return {.read_bytes = elements * sizeof(Storage), .written_bytes = elements * sizeof(Storage), .flop = elements};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const RowElement at(input, block);
    if (at.token >= input.vocabulary) return;
    const unsigned position = matches[at.request];
    Storage& to = out[static_cast<std::int64_t>(at.request) * input.vocabulary + at.token];
    if (!has_draft(input, at.request, position)) {
      to = targets[row_of(at.request, input.gamma + 1, position) * input.vocabulary + at.token];
      return;
    }
    const std::int64_t row = row_of(at.request, residual_rows, residual_rows == 1 ? 0 : position);
    to = from_float<Storage>(to_float(residuals[row * input.vocabulary + at.token]) / to_float(sums[row]));
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
  [[nodiscard]] latency::Work work() const {
    const double elements = static_cast<double>(input.batch) * rows() * input.vocabulary;
    return {.read_bytes = 2.0 * elements * sizeof(Storage),
            .written_bytes = elements * sizeof(Storage),
            .flop = 3.0 * elements};  // a difference, a sum and a product; exponentials count none
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
