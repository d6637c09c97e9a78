// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/gather.hpp"

/// What turns the row of the first rejection into the weights of the token that replaces the draft.
namespace foredraft::gpu_bench::published {

/// out[request] = p - q of the row behind the matches; p behind the last draft.
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

/// out[request] = residual / sum of the row behind the matches; p itself behind the last draft.
template <class Storage>
struct DivideRowKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  const Storage* residuals;      ///< [batch, residual_rows, vocabulary]
  const Storage* sums;           ///< [batch, residual_rows]
  const Storage* targets;        ///< [batch, gamma + 1, vocabulary]
  const std::uint32_t* matches;  ///< [batch]
  Storage* out;                  ///< [batch, vocabulary]
  unsigned residual_rows;        ///< gamma, or 1: that row alone
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

}  // namespace foredraft::gpu_bench::published
