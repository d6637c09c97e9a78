// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_facts.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <array>

#include "foredraft/errors.hpp"
#include "git_state.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/nvml.hpp"
#include "gpu_bench/run/host_facts.hpp"

namespace foredraft::gpu_bench {
namespace {

std::int64_t attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, name, device), "cudaDeviceGetAttribute");
  return value;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::string why_no_device() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (result == cudaSuccess && count > 0) return {};
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  return no_device_text(result, driver, runtime);
}

DeviceFacts device_facts(int device) {
  if (device_count() == 0) throw DomainError(why_no_device());
  check(cudaSetDevice(device), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "cudaDeviceGetPCIBusId");
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");

  const Nvml nvml(bus.data());
  DeviceFacts facts;
  facts.name = properties.name;
  facts.pci_bus_id = bus.data();
  facts.compute_major = properties.major;
  facts.compute_minor = properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.shared_bytes_per_multiprocessor = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  facts.memory_bus_bits = properties.memoryBusWidth;
  facts.memory_clock_mhz = 1e-3 * static_cast<double>(attribute(cudaDevAttrMemoryClockRate, device));
  facts.sm_clock_mhz =
      nvml.max_sm_clock_mhz().value_or(1e-3 * static_cast<double>(attribute(cudaDevAttrClockRate, device)));
  facts.ecc = properties.ECCEnabled != 0;
  facts.cooperative_launch = attribute(cudaDevAttrCooperativeLaunch, device) != 0;
  facts.mig = nvml.mig_enabled();
  facts.power_limit_w = nvml.power_limit_w();
  facts.driver = nvml.driver_version().value_or("CUDA " + version_text(driver));
  facts.runtime = version_text(runtime);
  return facts;
}

std::string to_text(const DeviceFacts& facts) {
  constexpr double mib = 1024.0 * 1024.0;
  std::string text = fmt::format(
      "device                   {}\npci bus                  {}\ncompute capability       {}.{}\nmultiprocessors       "
      "   {}\n"
      "memory_mib               {:.0f}\nl2_mib                   {:.1f}\nshared_kib_per_sm        {:.0f}\n"
      "memory_bus_bits          {}\nmemory_clock_mhz         {:.0f}\nsm_clock_mhz             {:.0f}\n"
      "ecc                      {}\ncooperative_launch       {}\ndriver                   {}\nruntime                  "
      "{}\n",
      facts.name, facts.pci_bus_id, facts.compute_major, facts.compute_minor, facts.multiprocessors,
      static_cast<double>(facts.memory_bytes) / mib, static_cast<double>(facts.l2_bytes) / mib,
      static_cast<double>(facts.shared_bytes_per_multiprocessor) / 1024.0, facts.memory_bus_bits,
      facts.memory_clock_mhz, facts.sm_clock_mhz, facts.ecc ? "on" : "off", facts.cooperative_launch ? "yes" : "no",
      facts.driver, facts.runtime);
  if (facts.mig) text += fmt::format("mig                      {}\n", *facts.mig ? "on" : "off");
  if (facts.power_limit_w) text += fmt::format("power_limit_w            {:.0f}\n", *facts.power_limit_w);
  return text;
}

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
