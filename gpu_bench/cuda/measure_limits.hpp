// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_facts.hpp"
#include "gpu_bench/cuda/device_loop.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// A product of two square random matrices, large enough to run at the device's rate.
struct MatrixPeak {
  latency::DataType type;
  std::int64_t size = 8192;
  [[nodiscard]] latency::Project product() const {
    return {.in = 0,
            .weight = 1,
            .bias = latency::no_buffer,
            .out = 2,
            .rows = size,
            .outputs = size,
            .inputs = size,
            .accumulate = false};
  }
  [[nodiscard]] double flop() const {
    return 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  }
};

/// Samples of one product each.
[[nodiscard]] latency::Measurement measure_matrix_peak(const MatrixPeak& peak, CublasLt& blas, const Bench& bench,
                                                       const latency::Protocol& protocol);

/// Fills profile.limits and the rows of copies, reads, writes and square products in profile.kernels, and appends their
/// samples. `protocol` applies to each arm separately.
void measure_limits(latency::Profile& profile, std::string& samples, const DeviceFacts& facts, CublasLt& blas,
                    const Bench& bench, const latency::Protocol& protocol);

}  // namespace foredraft::gpu_bench
