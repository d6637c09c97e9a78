// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "gpu_bench/kernels/reduce.hpp"

namespace foredraft::gpu_bench {

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

    const bool paired = i + half() < head_dim;  // an odd head_dim, never rotary, leaves one alone
    float low[n];
    float high[n] = {};
    load<n>(here + i, low);
    if (paired) load<n>(here + half() + i, high);
    if (rotary && !is_value) {
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) {
        const float exponent = -2.0F * static_cast<float>(i + j) / static_cast<float>(head_dim);
        const float angle = static_cast<float>(position) * std::exp2(exponent * rotary_log2_base);
        const float c = std::cos(angle);
        const float s = std::sin(angle);
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
