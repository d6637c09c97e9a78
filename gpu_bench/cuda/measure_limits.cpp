// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/measure_limits.hpp"

#include <fmt/core.h>
#include <algorithm>

#include "gpu_bench/cuda/bandwidth.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/launch_costs.hpp"
#include "gpu_bench/cuda/launch_operation.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/profile_folder.hpp"

namespace foredraft::gpu_bench {

latency::Measurement measure_matrix_peak(const MatrixPeak& peak, CublasLt& blas, const Bench& bench,
                                         const latency::Protocol& protocol) {
  const latency::Project product = peak.product();
  blas.prepare(product, peak.type);
  const std::int64_t elements = peak.size * peak.size;
  const auto bytes = static_cast<std::size_t>(elements * latency::bytes_of(peak.type));
  const DeviceMemory in(bytes);
  const DeviceMemory weight(bytes);
  const DeviceMemory out(bytes);
  launch_contents({"left matrix", latency::BufferKind::weight, elements, 1.0, 0}, in.get(), peak.type, 1, nullptr);
  launch_contents({"right matrix", latency::BufferKind::weight, elements, 1.0, 0}, weight.get(), peak.type, 1, nullptr);
  check(cudaDeviceSynchronize(), "filling matrices");
  const Arm arm = graph_arm(fmt::format("matrix peak {}", to_string(peak.type)), bench, [&](int) {
    blas.launch(product, peak.type, {.in = in.get(), .weight = weight.get(), .bias = nullptr, .out = out.get()},
                bench.stream.get());
  });
  return measure({arm}, protocol, steady_now_s).front();
}

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

void measure_moves(latency::Profile& profile, std::string& samples, const DeviceFacts& facts, const Bench& bench,
                   const latency::Protocol& protocol) {
  const std::vector<std::int64_t> sizes = sweep_sizes(facts.l2_bytes);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const MemoryMover mover(largest, facts.multiprocessors);
  for (const NamedMove& named : named_moves) {
    for (const std::int64_t size : sizes) {
      const Arm arm =
          graph_arm(std::string(named.name), bench, [&](int) { mover.launch(named.move, size, bench.stream); });
      const latency::Measurement measured = measure({arm}, protocol, steady_now_s).front();
      const auto bytes = static_cast<double>(size);
      const latency::KernelRow row{
          .operation = std::string(named.name),
          .shape = fmt::format("bytes {}", size),
          .dtype = "bytes",
          .cache = latency::Cache::hot,
          .launch = latency::Launch::graph,
          .timing = latency::timing_of(measured, named.reads * bytes, named.writes * bytes, 0.0)};
      profile.kernels.push_back(row);
      append_samples(samples, to_text(row), measured.samples_us);
      // The largest size is many times the cache, so it measures memory.
      if (size == largest && measured.summary.samples > 0) {
        profile.limits.*named.limit = rate_figure(row, (named.reads + named.writes) * bytes);
      }
    }
  }
}

void measure_products(latency::Profile& profile, std::string& samples, CublasLt& blas, const Bench& bench,
                      const latency::Protocol& protocol) {
  const std::pair<latency::DataType, latency::Figure latency::Limits::*> peaks[] = {
      {latency::DataType::fp16, &latency::Limits::matrix_peak_fp16_flop_per_s},
      {latency::DataType::bf16, &latency::Limits::matrix_peak_bf16_flop_per_s},
      {latency::DataType::fp32, &latency::Limits::matrix_peak_fp32_flop_per_s}};
  for (const auto& [type, limit] : peaks) {
    const MatrixPeak peak{.type = type};
    const latency::Measurement measured = measure_matrix_peak(peak, blas, bench, protocol);
    const auto bytes = static_cast<double>(peak.size * peak.size * latency::bytes_of(type));
    const latency::KernelRow row{.operation = "project",
                                 .shape = fmt::format("rows {0} outputs {0} inputs {0}", peak.size),
                                 .dtype = std::string(to_string(type)),
                                 .cache = latency::Cache::hot,
                                 .launch = latency::Launch::graph,
                                 .algorithm = blas.algorithm(peak.product(), type),
                                 .timing = latency::timing_of(measured, 2.0 * bytes, bytes, peak.flop())};
    profile.kernels.push_back(row);
    append_samples(samples, to_text(row), measured.samples_us);
    if (measured.summary.samples > 0) profile.limits.*limit = rate_figure(row, peak.flop());
  }
}

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
  measure_moves(profile, samples, facts, bench, protocol);
  measure_products(profile, samples, blas, bench, protocol);
}

}  // namespace foredraft::gpu_bench
