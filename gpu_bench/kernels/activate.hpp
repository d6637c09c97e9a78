// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "gpu_bench/kernels/reduce.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::gpu_bench {

/// Operation Activate: a thread a few neighbours.
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

}  // namespace foredraft::gpu_bench
