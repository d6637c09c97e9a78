// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "gpu_bench/cuda/device_limits.hpp"
#include "gpu_bench/cuda/launch_kernel.cuh"

namespace foredraft::gpu_bench {
namespace {

__global__ void do_nothing() {}

__global__ void synchronise_grid(int times) {
  for (int i = 0; i < times; ++i) cooperative_groups::this_grid().sync();
}

double median_of(const std::function<double()>& sample) {
  std::array<double, 21> samples{};
  sample();
  for (double& value : samples) value = sample();
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void launch_nothing(const Stream& stream, int times) {
  for (int i = 0; i < times; ++i) {
    do_nothing<<<1, 32, 0, stream.get()>>>();
    check(cudaGetLastError(), "kernel launch");
  }
}

/// Marginal time of one more item: (t(many) - t(few)) / (many - few).
double slope_us(const std::function<double(int)>& time_us) {
  constexpr int few = 100;
  constexpr int many = 600;
  return median_of([&] { return (time_us(many) - time_us(few)) / (many - few); });
}

}  // namespace

LaunchCosts measure_launch_costs(int multiprocessors, bool cooperative) {
  const Stream stream;
  const EventTimer timer;
  LaunchCosts costs;
  costs.event_pair_us = median_of([&] { return timer.time_us(stream, [] {}); });
  costs.stream_launch_us = slope_us([&](int n) { return timer.time_us(stream, [&] { launch_nothing(stream, n); }); });
  const Graph few(stream, [&] { launch_nothing(stream, 100); });
  const Graph many(stream, [&] { launch_nothing(stream, 600); });
  costs.graph_node_us = median_of([&] {
    return (timer.time_us(stream, [&] { many.replay(stream); }) - timer.time_us(stream, [&] { few.replay(stream); })) /
           500;
  });
  if (cooperative) {
    costs.grid_sync_us = slope_us([&](int n) {
      return timer.time_us(stream, [&] {
        void* arguments[] = {&n};
        check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&synchronise_grid), dim3(multiprocessors),
                                          dim3(256), arguments, 0, stream.get()),
              "cudaLaunchCooperativeKernel");
      });
    });
  }
  const DeviceMemory token(4);
  check(cudaMemset(token.get(), 0, token.bytes()), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  costs.read_back_us = median_of([&] {
    int copied = 0;
    const auto start = std::chrono::steady_clock::now();
    check(cudaMemcpyAsync(&copied, token.get(), 4, cudaMemcpyDeviceToHost, stream.get()), "cudaMemcpyAsync");
    stream.wait();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  });
  return costs;
}

void launch_move(MemoryMove move, const void* from, void* to, std::int64_t bytes, std::int64_t multiprocessors,
                 cudaStream_t stream) {
  const auto launch = [&]<MemoryMove kind>() {
    launch_kernel(MoveMemoryKernel<kind>{.from = static_cast<const MemoryPack*>(from),
                                         .to = static_cast<MemoryPack*>(to),
                                         .packs = bytes / static_cast<std::int64_t>(sizeof(MemoryPack)),
                                         .max_blocks = static_cast<unsigned>((kind == MemoryMove::read ? 16 : 128) *
                                                                             multiprocessors),
                                         .unlikely = 0x9e3779b9U},
                  stream);
  };
  switch (move) {
    case MemoryMove::copy:
      return launch.operator()<MemoryMove::copy>();
    case MemoryMove::read:
      return launch.operator()<MemoryMove::read>();
    case MemoryMove::write:
      return launch.operator()<MemoryMove::write>();
  }
}

}  // namespace foredraft::gpu_bench
