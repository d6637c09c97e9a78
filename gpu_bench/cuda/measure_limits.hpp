// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_facts.hpp"
#include "gpu_bench/cuda/device_loop.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Fills profile.limits and the rows of copies, reads, writes and square products in profile.kernels, and appends their
/// samples. `protocol` applies to each arm separately.
void measure_limits(latency::Profile& profile, std::string& samples, const DeviceFacts& facts, CublasLt& blas,
                    const Bench& bench, const latency::Protocol& protocol);

}  // namespace foredraft::gpu_bench
