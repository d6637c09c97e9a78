// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/cuda/device_facts.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Versions of everything that made a profile, and this machine.
[[nodiscard]] latency::Identity profile_identity(const DeviceFacts& facts, const std::string& cublaslt);

/// The facts as a profile holds them, each with its origin.
[[nodiscard]] latency::Device profile_device(const DeviceFacts& facts);

}  // namespace foredraft::gpu_bench
