// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/reference.hpp"
#include "tests/gpu_bench/verify/verify_support.hpp"

namespace foredraft::gpu_bench::tests {

/// Runs kernels on the host with this number of threads per block and parts per row.
struct RowsLauncher {
  unsigned threads = 32;
  unsigned splits = 1;
  HostOrder order = HostOrder::forward;

  template <class Kernel>
  void launch(Kernel kernel) {
    kernel.threads = threads;
    kernel.splits = splits;
    run_on_host(kernel, order);
  }
};

/// More memory than a verifier requests, because rows are divided into up to 8 parts.
inline WorkspaceSize enough_for_parts(const WorkspaceSize& size) {
  constexpr std::int64_t words_of_parts = 8 * 5;
  return {.floats = size.floats + words_of_parts * size.counters, .counters = size.counters};
}

/// Typical logits of a row: many magnitudes, ties, and NaN or infinity in one row of three.
template <class Storage>
std::vector<Storage> random_row(std::size_t vocabulary, std::mt19937& engine) {
  std::uniform_int_distribution<int> kind(0, 17);
  std::uniform_int_distribution<std::size_t> token(0, vocabulary - 1);
  std::uniform_real_distribution<float> uniform(-4.0F, 4.0F);
  const int kind_of_row = kind(engine);
  std::vector<float> row(vocabulary);
  for (float& logit : row) logit = kind_of_row == 0 ? 0.5F : uniform(engine);
  if (kind_of_row == 1) std::fill(row.begin(), row.end(), -float_infinity);
  if (kind_of_row == 2) std::fill(row.begin(), row.end(), no_number);
  if (kind_of_row <= 3 || kind_of_row == 4) row[token(engine)] = -float_infinity;
  if (kind_of_row == 4) row[token(engine)] = no_number;
  if (kind_of_row == 5) row[token(engine)] = row[token(engine)] = float_infinity;
  if (kind_of_row == 6) {  // one-hot
    std::fill(row.begin(), row.end(), -float_infinity);
    row[token(engine)] = uniform(engine);
  }
  std::vector<Storage> stored;
  for (const float logit : row) stored.push_back(from_float<Storage>(logit));
  return stored;
}

/// True if a kernel may differ from the reference: its nearest decision is within single precision.
inline bool excused(const ReferenceTokens& reference) { return reference.margin < single_precision; }

}  // namespace foredraft::gpu_bench::tests
