// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_facts.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "core/parallel.hpp"
#include "gpu_bench/cpu/cpu_loop.hpp"
#include "gpu_bench/cpu/cpu_runner.hpp"
#include "gpu_bench/cpu/host_memory.hpp"
#include "gpu_bench/cpu/vector_kernels.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "latency/operations/counts.hpp"

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
  constexpr int max_caches = 16;
  for (int i = 0; i < max_caches; ++i) {
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

/// Removes commas and quotes, which a profile's names must not contain.
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
  facts.max_clock_mhz = clock_mhz(root, "cpuinfo_max_freq");
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
  device.boost_clock_mhz = figure(facts.max_clock_mhz.value_or(0.0), "/sys/devices/system/cpu");
  return device;
}

namespace {

constexpr std::int64_t peak_size = 512;

struct NamedMove {
  std::string_view name;
  double reads, writes;  ///< number of times that each byte is read and written
  latency::Figure latency::Limits::*limit;
};
constexpr std::array named_moves{NamedMove{"copy", 1.0, 1.0, &latency::Limits::copy_bandwidth_bytes_per_s},
                                 NamedMove{"read", 1.0, 0.0, &latency::Limits::read_bandwidth_bytes_per_s},
                                 NamedMove{"write", 0.0, 1.0, &latency::Limits::write_bandwidth_bytes_per_s}};

/// A quarter of the last cache, all of it, and four times as much, which comes mostly from memory.
std::vector<std::int64_t> moved_bytes(const CpuFacts& facts) {
  constexpr std::int64_t mib = std::int64_t{1} << 20U;
  const std::int64_t cache = std::max(facts.last_cache_bytes, mib);
  return {cache / 4, cache, 4 * cache};
}

class CpuLimits {
 public:
  CpuLimits(latency::Profile& profile, ThreadTeam& team, const latency::Protocol& protocol,
            const std::function<void()>& before_sample)
      : profile_(profile), team_(team), protocol_(protocol), before_sample_(before_sample) {}

  void measure_launches() {
    latency::Limits& limits = profile_.limits;
    limits.stream_launch_us = cost_figure("measured: work handed to waiting threads and waited for", 1,
                                          [this] { team_.run([](unsigned) {}); });
    constexpr int meetings = 100;
    limits.grid_sync_us = cost_figure("measured: one more barrier over all threads", meetings, [this] {
      team_.run([this](unsigned) {
        for (int i = 0; i < meetings; ++i) team_.meet();
      });
    });
    limits.event_pair_us =
        cost_figure("measured: two readings of the steady clock", 1, [] { static_cast<void>(steady_now_s()); });
  }

  void measure_moves(const std::vector<std::int64_t>& sizes) {
    const std::int64_t largest = sizes.back();
    const HostMemory from = allocate_host(largest);
    const HostMemory to = allocate_host(largest);
    // Memory that was never written is one page of zeros.
    move("write", from.get(), from.get(), largest);
    move("write", to.get(), to.get(), largest);
    for (const NamedMove& named : named_moves) {
      for (const std::int64_t bytes : sizes) {
        const latency::KernelRow row = row_of(std::string(named.name), fmt::format("bytes {}", bytes), "bytes",
                                              {.read_bytes = named.reads * static_cast<double>(bytes),
                                               .written_bytes = named.writes * static_cast<double>(bytes),
                                               .flop = 0.0},
                                              [&] { move(named.name, from.get(), to.get(), bytes); });
        if (bytes == largest && row.timing.summary.samples > 0) {
          profile_.limits.*named.limit = rate_figure(row, (named.reads + named.writes) * static_cast<double>(bytes));
        }
      }
    }
  }

  void measure_product() {
    constexpr std::int64_t matrix_bytes = peak_size * peak_size * 4;
    HostPool pool(1, team_.size());
    latency::Program program;
    program.buffers = {{"left matrix", latency::BufferKind::weight, peak_size * peak_size, 1.0, 0},
                       {"right matrix", latency::BufferKind::weight, peak_size * peak_size, 1.0, 0},
                       {"product", latency::BufferKind::activation, peak_size * peak_size, 0.0, 0}};
    program.operations = {latency::Project{.in = 0,
                                           .weight = 1,
                                           .bias = latency::no_buffer,
                                           .out = 2,
                                           .rows = peak_size,
                                           .outputs = peak_size,
                                           .inputs = peak_size,
                                           .accumulate = false}};
    program.output = 2;
    CpuRunner runner(program, std::span(&pool, 1), team_);
    const double flop = 2.0 * static_cast<double>(peak_size * peak_size * peak_size);
    const latency::KernelRow row =
        row_of("project", fmt::format("rows {0} outputs {0} inputs {0}", peak_size), "fp32",
               {.read_bytes = 2.0 * matrix_bytes, .written_bytes = matrix_bytes, .flop = flop}, [&] { runner.run(); });
    if (row.timing.summary.samples > 0) profile_.limits.matrix_peak_fp32_flop_per_s = rate_figure(row, flop);
  }

 private:
  latency::Measurement measure_alone(const std::string& name, const std::function<void()>& call) const {
    const auto numbered = [&call](int) { call(); };
    before_sample_();
    return measure({cpu_arm(name, numbered, calls_of_sample(numbered, 1), before_sample_)}, protocol_, steady_now_s)
        .front();
  }

  /// Time of one of the `times` repetitions in a call.
  latency::Figure cost_figure(const char* origin, int times, const std::function<void()>& call) const {
    const latency::SampleSummary summary = measure_alone(origin, call).summary;
    if (summary.samples == 0) return {};
    return {.value = summary.median_us / times,
            .ci95 = Interval{summary.median_ci95_us.low / times, summary.median_ci95_us.high / times},
            .origin = origin};
  }

  latency::KernelRow row_of(const std::string& operation, const std::string& shape, const std::string& dtype,
                            const latency::Work& work, const std::function<void()>& call) {
    const latency::Measurement measured = measure_alone(operation + " " + shape, call);
    profile_.kernels.push_back(
        {.operation = operation,
         .shape = shape,
         .dtype = dtype,
         .cache = latency::Cache::hot,
         .launch = latency::Launch::eager,
         .algorithm = "",
         .timing = latency::timing_of(measured, work.read_bytes, work.written_bytes, work.flop)});
    return profile_.kernels.back();
  }

  void move(std::string_view name, void* from, void* to, std::int64_t bytes) {
    team_.run([&](unsigned thread) {
      const Share share = share_of(bytes, thread, team_.size(), 64);
      auto* source = static_cast<char*>(from) + share.begin;
      auto* target = static_cast<char*>(to) + share.begin;
      const auto count = static_cast<std::size_t>(share.end - share.begin);
      if (name == "copy") {
        std::memcpy(target, source, count);
      } else if (name == "write") {
        std::memset(target, 1, count);
      } else {
        sums_[thread % sums_.size()] = sum_of({reinterpret_cast<const float*>(source), count / sizeof(float)});
      }
    });
  }

  latency::Profile& profile_;
  ThreadTeam& team_;
  const latency::Protocol& protocol_;
  const std::function<void()>& before_sample_;
  std::array<volatile float, 64> sums_{};  ///< uses the sum, so it is not optimized away
};

}  // namespace

void measure_cpu_limits(latency::Profile& profile, const CpuFacts& facts, ThreadTeam& team,
                        const latency::Protocol& protocol, const std::function<void()>& before_sample) {
  CpuLimits limits(profile, team, protocol, before_sample);
  limits.measure_launches();
  limits.measure_moves(moved_bytes(facts));
  limits.measure_product();
}

}  // namespace foredraft::gpu_bench
