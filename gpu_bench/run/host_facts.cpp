// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/host_facts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <chrono>
#include <ctime>
#include <fstream>

namespace foredraft::gpu_bench {

std::string host_cpu_name(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
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

std::string date_utc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

latency::Figure rate_figure(const latency::KernelRow& row, double amount) {
  const latency::SampleSummary& summary = row.timing.summary;
  const double per_s = 1e6 * amount;
  return {.value = per_s / summary.median_us,
          .ci95 = Interval{per_s / summary.median_ci95_us.high, per_s / summary.median_ci95_us.low},
          .origin = fmt::format("measured: {} {} {}", row.operation, row.shape, row.dtype)};
}

}  // namespace foredraft::gpu_bench
