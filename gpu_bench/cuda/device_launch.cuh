// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "gpu_bench/cuda/device_launch.hpp"
#include "gpu_bench/cuda/launch_kernel.cuh"

namespace foredraft::gpu_bench {

template <class Storage>
void DeviceLaunches<Storage>::operation(const latency::Operation& operation, const KernelContext& context,
                                        cudaStream_t stream) {
  with_kernel<Storage>(operation, context, [stream](const auto& kernel) { launch_kernel(kernel, stream); });
}

template <class Storage>
void DeviceLaunches<Storage>::contents(const latency::Buffer& buffer, void* memory, std::uint64_t seed,
                                       cudaStream_t stream) {
  with_content_kernel<Storage>(buffer, memory, seed, [stream](const auto& kernel) { launch_kernel(kernel, stream); });
}

/// The launcher of verify/verification.hpp for a device.
class DeviceLauncher {
 public:
  DeviceLauncher(cudaStream_t stream, HostWaits waits) : stream_(stream), waits_(waits) {}

  template <class Kernel>
  void launch(const Kernel& kernel) {
    launch_kernel(kernel, stream_);
  }

  void read_back(const void* address, std::size_t bytes) {
    if (waits_ == HostWaits::never) return;
    thread_local std::vector<std::byte> host;  // grows in a call before the timed ones
    if (host.size() < bytes) host.resize(bytes);
    check(cudaMemcpyAsync(host.data(), address, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  cudaStream_t stream_;
  HostWaits waits_;
};

template <class Storage>
void DeviceLaunches<Storage>::verifier(const VerifierCall& call, cudaStream_t stream) {
  DeviceLauncher launcher(stream, call.waits);
  WorkspaceCutter cutter(call.workspace);
  launch_verifier<Storage>(call.verifier, call.shape, call.memory, call.draws, cutter, launcher);
}

template <class Storage>
void DeviceLaunches<Storage>::logits(const LogitsProfile& profile, const VerificationShape& shape,
                                     const VerifierMemory& memory, std::uint64_t seed, cudaStream_t stream) {
  const auto fill = [&](const char* name, void* out, std::int64_t rows_per_request) {
    const std::int64_t rows = shape.batch * rows_per_request;
    if (rows == 0) return;
    launch_kernel(logits_kernel<Storage>(profile, name, out, rows, rows_per_request, shape.vocabulary, seed), stream);
  };
  fill("target logits", memory.target_logits, shape.gamma + 1);
  fill("draft logits", memory.draft_logits, shape.gamma);
  launch_kernel(DraftsKernel{.drafts = memory.drafts,
                             .node_tokens = memory.node_tokens,
                             .draft_counts = memory.draft_counts,
                             .batch = shape.batch,
                             .gamma = shape.gamma,
                             .vocabulary = shape.vocabulary},
                stream);
}

}  // namespace foredraft::gpu_bench
