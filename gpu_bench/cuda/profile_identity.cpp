#include "gpu_bench/cuda/profile_identity.hpp"

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "git_state.hpp"

namespace foredraft::gpu_bench {
namespace {

std::string host_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string operating_system() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {} {}", names.sysname, names.release, names.machine) : std::string{};
}

}  // namespace

Identity profile_identity(const DeviceFacts& facts, const std::string& cublaslt) {
  return {.tool_version = FOREDRAFT_VERSION,
          .commit = fmt::format("{} (changes: {})", FOREDRAFT_GIT_COMMIT, FOREDRAFT_GIT_CHANGES),
          .build_flags = FOREDRAFT_BUILD_FLAGS,
          .device_compiler = FOREDRAFT_DEVICE_COMPILER,
          .host_compiler = FOREDRAFT_HOST_COMPILER,
          .cuda_driver = facts.driver,
          .cuda_runtime = facts.runtime,
          .cublaslt = cublaslt,
          .date_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
          .host_cpu = host_cpu(),
          .operating_system = operating_system()};
}

Device profile_device(const DeviceFacts& facts) {
  const auto figure = [](double value, const char* origin) {
    return value > 0.0 ? Figure{.value = value, .ci95 = {}, .origin = origin} : Figure{};
  };
  const auto count = [&](std::int64_t value) { return figure(static_cast<double>(value), "CUDA runtime"); };
  Device device;
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
