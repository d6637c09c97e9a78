// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/reduce.hpp"

namespace foredraft::gpu_bench {

/// Operation Embed: a block a row.
template <class Storage, unsigned width_of_access>
struct EmbedKernel {
  static constexpr unsigned max_threads = 256;

  const std::int32_t* tokens;
  const Storage* table;
  const Storage* positions;  ///< or null
  Storage* out;
  unsigned rows;
  unsigned width;
  unsigned tokens_per_sequence;
  unsigned first_position;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return {.blocks = rows, .threads = threads, .shared_bytes = 0}; }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned row = block.block();
    const Storage* from = table + static_cast<std::int64_t>(tokens[row]) * width;
    const std::int64_t position = first_position + row % tokens_per_sequence;
    for (unsigned i = block.thread() * width_of_access; i < width; i += block.threads() * width_of_access) {
      float values[width_of_access];
      load<width_of_access>(from + i, values);
      if (positions != nullptr) {
        float shift[width_of_access];
        load<width_of_access>(positions + position * width + i, shift);
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < width_of_access; ++j) values[j] += shift[j];
      }
      store<width_of_access>(values, out + static_cast<std::int64_t>(row) * width + i);
    }
  }
};

}  // namespace foredraft::gpu_bench
