// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/measure_limits.hpp"

#include <fmt/core.h>
#include <algorithm>

#include "gpu_bench/cuda/device_launch.hpp"
#include "gpu_bench/cuda/device_limits.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "latency/operations/counts.hpp"

namespace foredraft::gpu_bench {

namespace {

struct NamedMove {
  std::string_view name;
  MemoryMove move;
  double reads, writes;  ///< number of times that each byte is read and written
  latency::Figure latency::Limits::*limit;
};

const NamedMove named_moves[] = {
    {"copy", MemoryMove::copy, 1.0, 1.0, &latency::Limits::copy_bandwidth_bytes_per_s},
    {"read", MemoryMove::read, 1.0, 0.0, &latency::Limits::read_bandwidth_bytes_per_s},
    {"write", MemoryMove::write, 0.0, 1.0, &latency::Limits::write_bandwidth_bytes_per_s},
};

/// Powers of two from 1 MiB to at most 16 times the second-level cache, with intermediate sizes around it: they show
/// the bandwidth of the cache, the transition and the bandwidth of memory.
std::vector<std::int64_t> sweep_sizes(std::int64_t l2_bytes) {
  constexpr std::int64_t mib = 1024 * 1024;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = mib; size <= 16 * l2_bytes; size *= 2) {
    sizes.push_back(size);
    if (4 * size >= l2_bytes && size <= 2 * l2_bytes) sizes.push_back(size + size / 2);
  }
  return sizes;
}

class DeviceLimits {
 public:
  DeviceLimits(latency::Profile& profile, std::string& samples, const DeviceFacts& facts, const Bench& bench,
               const latency::Protocol& protocol)
      : profile_(profile), samples_(samples), facts_(facts), bench_(bench), protocol_(protocol) {}

  void measure_moves() {
    const std::vector<std::int64_t> sizes = sweep_sizes(facts_.l2_bytes);
    const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
    const DeviceMemory from = filled("moved memory", largest / 4, latency::DataType::fp32);
    const DeviceMemory to(static_cast<std::size_t>(largest));
    check(cudaDeviceSynchronize(), "filling memory");
    for (const NamedMove& named : named_moves) {
      for (const std::int64_t size : sizes) {
        const auto bytes = static_cast<double>(size);
        const latency::KernelRow row =
            row_of({.operation = std::string(named.name),
                    .shape = fmt::format("bytes {}", size),
                    .dtype = "bytes",
                    .timing = {}},
                   {.read_bytes = named.reads * bytes, .written_bytes = named.writes * bytes, .flop = 0.0}, [&](int) {
                     launch_move(named.move, from.get(), to.get(), size, facts_.multiprocessors, bench_.stream.get());
                   });
        // The largest size is many times the cache, so it measures memory.
        if (size == largest) set_limit(named.limit, row, (named.reads + named.writes) * bytes);
      }
    }
  }

  /// Products of two square random matrices, large enough to run at the device's rate.
  void measure_products(CublasLt& blas) {
    constexpr std::int64_t size = 8192;
    constexpr latency::Project product{.in = 0,
                                       .weight = 1,
                                       .bias = latency::no_buffer,
                                       .out = 2,
                                       .rows = size,
                                       .outputs = size,
                                       .inputs = size,
                                       .accumulate = false};
    const double flop = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
    const std::pair<latency::DataType, latency::Figure latency::Limits::*> peaks[] = {
        {latency::DataType::fp16, &latency::Limits::matrix_peak_fp16_flop_per_s},
        {latency::DataType::bf16, &latency::Limits::matrix_peak_bf16_flop_per_s},
        {latency::DataType::fp32, &latency::Limits::matrix_peak_fp32_flop_per_s}};
    for (const auto& [type, limit] : peaks) {
      blas.prepare(product, type);
      const DeviceMemory in = filled("left matrix", size * size, type);
      const DeviceMemory weight = filled("right matrix", size * size, type);
      const DeviceMemory out(in.bytes());
      check(cudaDeviceSynchronize(), "filling matrices");
      const auto bytes = static_cast<double>(in.bytes());
      const latency::KernelRow row = row_of(
          {.operation = "project",
           .shape = fmt::format("rows {0} outputs {0} inputs {0}", size),
           .dtype = std::string(to_string(type)),
           .algorithm = blas.algorithm(product, type),
           .timing = {}},
          {.read_bytes = 2.0 * bytes, .written_bytes = bytes, .flop = flop}, [&, type = type](int) {
            blas.launch(product, type, {.in = in.get(), .weight = weight.get(), .bias = nullptr, .out = out.get()},
                        bench_.stream.get());
          });
      set_limit(limit, row, flop);
    }
  }

 private:
  static DeviceMemory filled(const char* name, std::int64_t elements, latency::DataType type) {
    DeviceMemory memory(static_cast<std::size_t>(elements * latency::bytes_of(type)));
    launch_contents({name, latency::BufferKind::weight, elements, 1.0, 0}, memory.get(), type, 1, nullptr);
    return memory;
  }

  /// Measures the launch of a row with a warm cache, and keeps the row and its samples.
  latency::KernelRow row_of(latency::KernelRow row, const latency::Work& work, const std::function<void(int)>& launch) {
    const Arm arm = device_arm(row.operation, bench_, latency::Launch::graph, launch);
    const latency::Measurement measured = measure({arm}, protocol_, steady_now_s).front();
    row.cache = latency::Cache::hot;
    row.launch = latency::Launch::graph;
    row.timing = latency::timing_of(measured, work.read_bytes, work.written_bytes, work.flop);
    profile_.kernels.push_back(row);
    append_samples(samples_, to_text(row), measured.samples_us);
    return row;
  }

  void set_limit(latency::Figure latency::Limits::*limit, const latency::KernelRow& row, double amount) {
    if (row.timing.summary.samples > 0) profile_.limits.*limit = rate_figure(row, amount);
  }

  latency::Profile& profile_;
  std::string& samples_;
  const DeviceFacts& facts_;
  const Bench& bench_;
  const latency::Protocol& protocol_;
};

}  // namespace

void measure_limits(latency::Profile& profile, std::string& samples, const DeviceFacts& facts, CublasLt& blas,
                    const Bench& bench, const latency::Protocol& protocol) {
  const LaunchCosts costs = measure_launch_costs(static_cast<int>(facts.multiprocessors), facts.cooperative_launch);
  const auto set = [](latency::Figure& figure, double us, const char* how) {
    if (us > 0.0) figure = {.value = us, .ci95 = {}, .origin = how};
  };
  set(profile.limits.stream_launch_us, costs.stream_launch_us, "measured: one more empty kernel in a stream");
  set(profile.limits.graph_node_us, costs.graph_node_us, "measured: one more empty kernel in a graph");
  set(profile.limits.grid_sync_us, costs.grid_sync_us, "measured: one more barrier of a cooperative launch");
  set(profile.limits.event_pair_us, costs.event_pair_us, "measured: two events with nothing between them");
  set(profile.limits.read_back_us, costs.read_back_us, "measured: 4 bytes to the host, by its clock");
  DeviceLimits limits(profile, samples, facts, bench, protocol);
  limits.measure_moves();
  limits.measure_products(blas);
}

}  // namespace foredraft::gpu_bench
