// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/matrix_peak.hpp"

#include <fmt/core.h>

#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/launch_operation.hpp"
#include "gpu_bench/run/host_facts.hpp"

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

}  // namespace foredraft::gpu_bench
