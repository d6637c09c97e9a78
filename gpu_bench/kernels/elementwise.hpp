// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "gpu_bench/kernels/reduce.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::gpu_bench {

/// Operation Activate: a few neighboring elements per thread.
template <class Storage, unsigned width_of_access>
struct ActivateKernel {
  static constexpr unsigned max_threads = 256;

  const Storage* in;
  Storage* out;
  unsigned rows;
  unsigned width;
  latency::Activation function;
  bool gated;
  unsigned threads = max_threads;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned items_per_row() const { return width / width_of_access; }
  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = divide_up(rows * items_per_row(), threads), .threads = threads, .shared_bytes = 0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    const unsigned item = block.block() * block.threads() + block.thread();
    if (item >= rows * items_per_row()) return;
    const std::int64_t row = item / items_per_row();
    const unsigned i = item % items_per_row() * n;
    const Storage* from = in + row * (gated ? 2 * width : width) + i;
    float x[n];
    load<n>(from, x);
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < n; ++j) x[j] = activated(x[j]);
    if (gated) {
      float factor[n];
      load<n>(from + width, factor);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) x[j] *= factor[j];
    }
    store<n>(x, out + row * width + i);
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE float activated(float x) const {
    switch (function) {
      case latency::Activation::silu:
        return x / (1.0F + std::exp(-x));
      case latency::Activation::gelu:
        return 0.5F * x * (1.0F + std::erf(x * 0.70710678F));  // 1 / sqrt(2)
      case latency::Activation::relu:
        return x > 0.0F ? x : 0.0F;
    }
    return x;
  }
};

/// Operation AddNormalise: one block per row, which stays in shared memory between the passes over it.
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

    float sum = 0.0F;  // of the values for their mean, else of their squares
    for (unsigned i = first; i < width; i += stride) {
      float mine[n];
      load<n>(stream + start + i, mine);
      if (delta != nullptr) {
        add_loaded<n>(delta + start + i, mine);
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
      if (bias != nullptr) add_loaded<n>(bias + i, result);
      store<n>(result, out + start + i);
    }
  }
};

/// Operation Embed: one block per row.
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
      if (positions != nullptr) add_loaded<width_of_access>(positions + position * width + i, values);
      store<width_of_access>(values, out + static_cast<std::int64_t>(row) * width + i);
    }
  }
};

FOREDRAFT_HOST_DEVICE inline void sine_and_cosine(float angle, float& sine, float& cosine) {
#ifdef __CUDA_ARCH__
  sincosf(angle, &sine, &cosine);  // in half the code of two functions
#else
  sine = std::sin(angle);
  cosine = std::cos(angle);
#endif
}

/// Operation NormaliseHeads: one warp per head.
template <class Storage, unsigned width_of_access>
struct NormaliseHeadsKernel {
  static constexpr unsigned max_threads = 128;

  Storage* packed;
  const Storage* query_gain;
  const Storage* key_gain;
  unsigned rows;
  unsigned heads;
  unsigned kv_heads;
  unsigned head_dim;
  float epsilon;
  unsigned threads = max_threads;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned heads_per_row() const { return heads + kv_heads; }
  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = divide_up(rows * heads_per_row(), threads / warp_lanes), .threads = threads, .shared_bytes = 0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    const unsigned item = block.block() * (block.threads() / warp_lanes) + block.thread() / warp_lanes;
    if (item >= rows * heads_per_row()) return;  // a whole warp
    const std::int64_t row = item / heads_per_row();
    const unsigned head = item % heads_per_row();
    Storage* values = packed + (row * (heads + 2 * kv_heads) + head) * head_dim;
    const Storage* gain = head < heads ? query_gain : key_gain;
    const unsigned first = block.thread() % warp_lanes * n;

    float sum = 0.0F;
    for (unsigned i = first; i < head_dim; i += warp_lanes * n) {
      float mine[n];
      load<n>(values + i, mine);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) sum += mine[j] * mine[j];
    }
    const float scale = 1.0F / std::sqrt(lane_sum(block, sum) / static_cast<float>(head_dim) + epsilon);

    for (unsigned i = first; i < head_dim; i += warp_lanes * n) {
      float mine[n];
      float factor[n];
      load<n>(values + i, mine);
      load<n>(gain + i, factor);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) mine[j] *= scale * factor[j];
      store<n>(mine, values + i);
    }
  }
};

/// Operation StoreKeysValues: a thread takes elements i and i + head_dim / 2 of a head, the pair that is rotated.
template <class Storage, unsigned width_of_access>
struct StoreKeysValuesKernel {
  static constexpr unsigned max_threads = 128;

  Storage* packed;  ///< queries are rotated in place
  Storage* keys;
  Storage* values;
  unsigned batch;
  unsigned tokens;
  unsigned context;
  std::int64_t capacity;
  unsigned heads;
  unsigned kv_heads;
  unsigned head_dim;
  bool rotary;
  float rotary_log2_base;
  unsigned threads = max_threads;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned first_head() const { return rotary ? 0 : heads; }  // queries stay
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned items_per_row() const {
    return (heads + 2 * kv_heads - first_head()) * divide_up(half(), width_of_access);
  }
  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = divide_up(batch * tokens * items_per_row(), threads), .threads = threads, .shared_bytes = 0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    const unsigned item = block.block() * block.threads() + block.thread();
    if (item >= batch * tokens * items_per_row()) return;
    const unsigned row = item / items_per_row();
    const unsigned per_head = divide_up(half(), n);
    const unsigned head = first_head() + item % items_per_row() / per_head;
    const unsigned i = item % per_head * n;
    const unsigned sequence = row / tokens;
    const unsigned position = context + row % tokens;
    const bool is_value = head >= heads + kv_heads;

    Storage* here = packed + (static_cast<std::int64_t>(row) * (heads + 2 * kv_heads) + head) * head_dim;
    Storage* there = here;
    if (head >= heads) {
      const unsigned kv_head = is_value ? head - heads - kv_heads : head - heads;
      there = (is_value ? values : keys) +
              ((static_cast<std::int64_t>(sequence) * capacity + position) * kv_heads + kv_head) * head_dim;
    }

    const bool paired = i + half() < head_dim;  // for an odd head_dim, which is never rotary, one is unpaired
    float low[n];
    float high[n] = {};
    load<n>(here + i, low);
    if (paired) load<n>(here + half() + i, high);
    if (rotary && !is_value) {
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) {
        const float exponent = -2.0F * static_cast<float>(i + j) / static_cast<float>(head_dim);
        const float angle = static_cast<float>(position) * std::exp2(exponent * rotary_log2_base);
        float s = 0.0F;
        float c = 0.0F;
        sine_and_cosine(angle, s, c);
        const float rotated = low[j] * c - high[j] * s;
        high[j] = high[j] * c + low[j] * s;
        low[j] = rotated;
      }
    }
    store<n>(low, there + i);
    if (paired) store<n>(high, there + half() + i);
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned half() const { return divide_up(head_dim, 2); }
};

}  // namespace foredraft::gpu_bench
