// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/profile_identity.hpp"

#include <fmt/core.h>

#include "git_state.hpp"
#include "gpu_bench/run/host_facts.hpp"

namespace foredraft::gpu_bench {

latency::Identity profile_identity(const DeviceFacts& facts, const std::string& cublaslt) {
  return {.tool_version = FOREDRAFT_VERSION,
          .commit = fmt::format("{} (changes: {})", FOREDRAFT_GIT_COMMIT, FOREDRAFT_GIT_CHANGES),
          .build_flags = FOREDRAFT_BUILD_FLAGS,
          .device_compiler = FOREDRAFT_DEVICE_COMPILER,
          .host_compiler = FOREDRAFT_HOST_COMPILER,
          .cuda_driver = facts.driver,
          .cuda_runtime = facts.runtime,
          .cublaslt = cublaslt,
          .date_utc = date_utc(),
          .host_cpu = host_cpu_name(),
          .operating_system = operating_system()};
}

latency::Device profile_device(const DeviceFacts& facts) {
  const auto figure = [](double value, const char* origin) {
    return value > 0.0 ? latency::Figure{.value = value, .ci95 = {}, .origin = origin} : latency::Figure{};
  };
  const auto count = [&](std::int64_t value) { return figure(static_cast<double>(value), "CUDA runtime"); };
  latency::Device device;
  device.name = facts.name;
  device.compute_capability = fmt::format("{}.{}", facts.compute_major, facts.compute_minor);
  device.multiprocessors = count(facts.multiprocessors);
  device.memory_bytes = count(facts.memory_bytes);
  device.memory_bus_bits = count(facts.memory_bus_bits);
  device.l2_bytes = count(facts.l2_bytes);
  device.shared_memory_bytes = count(facts.shared_bytes_per_multiprocessor);
  device.boost_clock_mhz = figure(facts.sm_clock_mhz, "driver");
  device.memory_clock_mhz = figure(facts.memory_clock_mhz, "CUDA runtime");
  device.power_limit_w = figure(facts.power_limit_w.value_or(0.0), "driver");
  return device;
}

}  // namespace foredraft::gpu_bench
