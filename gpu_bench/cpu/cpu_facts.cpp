// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_facts.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <fstream>

#include "core/parallel.hpp"
#include "gpu_bench/cpu/vector_kernels.hpp"
#include "gpu_bench/run/host_facts.hpp"

namespace foredraft::gpu_bench {
namespace {

/// A line "name:   123 kB" of /proc/meminfo.
std::int64_t meminfo_bytes(const std::string& root, const std::string& name) {
  std::ifstream file(root + "/proc/meminfo");
  std::string word;
  std::int64_t kibibytes = 0;
  while (file >> word) {
    if (word == name + ":" && file >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

template <typename Value>
Value first_word(const std::string& path) {
  Value value{};
  std::ifstream(path) >> value;
  return value;
}

/// "32768K", "2M" or plain bytes.
std::int64_t cache_bytes(const std::string& path) {
  std::int64_t size = 0;
  char unit = ' ';
  std::ifstream file(path);
  file >> size >> unit;
  return unit == 'K' ? size * 1024 : unit == 'M' ? size * 1024 * 1024 : size;
}

void read_caches(const std::string& root, CpuFacts& facts) {
  constexpr int most_caches = 16;
  for (int i = 0; i < most_caches; ++i) {
    const std::string cache = fmt::format("{}/sys/devices/system/cpu/cpu0/cache/index{}/", root, i);
    const std::int64_t bytes = cache_bytes(cache + "size");
    if (bytes == 0 || first_word<std::string>(cache + "type") == "Instruction") continue;
    const int level = first_word<int>(cache + "level");
    if (level == 1) facts.l1_bytes = bytes;
    if (level == 2) facts.l2_bytes = bytes;
    facts.last_cache_bytes = std::max(facts.last_cache_bytes, bytes);
  }
}

std::optional<double> clock_mhz(const std::string& root, const std::string& name) {
  const auto khz = first_word<double>(fmt::format("{}/sys/devices/system/cpu/cpu0/cpufreq/{}", root, name));
  return khz > 0.0 ? std::optional(1e-3 * khz) : std::nullopt;
}

/// A profile's names hold neither commas nor quotes.
std::string plain_name(std::string name) {
  std::erase_if(name, [](char letter) { return letter == ',' || letter == '"'; });
  return name.empty() ? "unnamed CPU" : name;
}

}  // namespace

CpuFacts cpu_facts(const std::string& root) {
  CpuFacts facts{.name = plain_name(host_cpu_name(root)),
                 .threads = resolve_threads(0),
                 .memory_bytes = meminfo_bytes(root, "MemTotal")};
  read_caches(root, facts);
  facts.base_clock_mhz = clock_mhz(root, "base_frequency");
  facts.most_clock_mhz = clock_mhz(root, "cpuinfo_max_freq");
  return facts;
}

std::int64_t available_memory_bytes() { return meminfo_bytes("", "MemAvailable"); }

bool memory_is_plenty(const std::string& root) {
  return meminfo_bytes(root, "MemAvailable") > meminfo_bytes(root, "MemTotal") / 2;
}

latency::Device profile_device(const CpuFacts& facts, unsigned threads) {
  const auto figure = [](double value, const char* origin) {
    return value > 0.0 ? latency::Figure{.value = value, .ci95 = {}, .origin = origin} : latency::Figure{};
  };
  latency::Device device;
  device.name = fmt::format("{} with {} thread{}", facts.name, threads, threads == 1 ? "" : "s");
  device.compute_capability = vector_instruction_set();
  device.multiprocessors = figure(static_cast<double>(facts.threads), "hardware threads");
  device.memory_bytes = figure(static_cast<double>(facts.memory_bytes), "/proc/meminfo");
  device.l2_bytes = figure(static_cast<double>(facts.last_cache_bytes), "last-level cache; /sys/devices/system/cpu");
  device.base_clock_mhz = figure(facts.base_clock_mhz.value_or(0.0), "/sys/devices/system/cpu");
  device.boost_clock_mhz = figure(facts.most_clock_mhz.value_or(0.0), "/sys/devices/system/cpu");
  return device;
}

}  // namespace foredraft::gpu_bench
