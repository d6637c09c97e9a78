// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "gpu_bench/kernels/reduce.hpp"

namespace foredraft::gpu_bench {

/// Operation AddNormalise: a block a row, which stays in shared memory between the passes over it.
template <class Storage, unsigned width_of_access>
struct AddNormaliseKernel {
  static constexpr unsigned max_threads = 512;

  Storage* stream;
  const Storage* delta;  ///< or null
  const Storage* gain;
  const Storage* bias;  ///< or null
  Storage* out;
  unsigned rows;
  unsigned width;
  float epsilon;
  bool subtract_mean;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    const unsigned floats = width + 2 * (threads / warp_lanes);
    return {.blocks = rows, .threads = threads, .shared_bytes = static_cast<unsigned>(floats * sizeof(float))};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    auto* values = reinterpret_cast<float*>(block.shared());
    float* scratch = values + width;
    float* second_scratch = scratch + block.threads() / warp_lanes;
    const std::int64_t start = static_cast<std::int64_t>(block.block()) * width;
    const unsigned first = block.thread() * n;
    const unsigned stride = block.threads() * n;

    float sum = 0.0F;  // of the values where their mean is wanted, else of their squares
    for (unsigned i = first; i < width; i += stride) {
      float mine[n];
      load<n>(stream + start + i, mine);
      if (delta != nullptr) {
        float added[n];
        load<n>(delta + start + i, added);
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) mine[j] += added[j];
        store<n>(mine, stream + start + i);
      }
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) {
        values[i + j] = mine[j];
        sum += subtract_mean ? mine[j] : mine[j] * mine[j];
      }
    }
    sum = block_sum(block, sum, scratch);

    float mean = 0.0F;
    if (subtract_mean) {
      mean = sum / static_cast<float>(width);
      sum = 0.0F;
      for (unsigned i = first; i < width; i += stride) {
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) sum += (values[i + j] - mean) * (values[i + j] - mean);
      }
      sum = block_sum(block, sum, second_scratch);
    }
    const float scale = 1.0F / std::sqrt(sum / static_cast<float>(width) + epsilon);

    for (unsigned i = first; i < width; i += stride) {
      float factor[n];
      load<n>(gain + i, factor);
      float result[n];
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) result[j] = (values[i + j] - mean) * scale * factor[j];
      if (bias != nullptr) {
        float shift[n];
        load<n>(bias + i, shift);
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) result[j] += shift[j];
      }
      store<n>(result, out + start + i);
    }
  }
};

}  // namespace foredraft::gpu_bench
