// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>

#include "gpu_bench/cuda/device_verifier.hpp"
#include "gpu_bench/cuda/launch_kernel.cuh"
#include "gpu_bench/verify/launch_verifier.hpp"

namespace foredraft::gpu_bench {

/// The launcher of verify/launcher.hpp for a device.
class DeviceLauncher {
 public:
  DeviceLauncher(cudaStream_t stream, HostWaits waits) : stream_(stream), waits_(waits) {}

  template <class Kernel>
  void launch(const Kernel& kernel) {
    launch_kernel(kernel, stream_);
  }

  void read_back(const void* address, std::size_t bytes) {
    if (waits_ == HostWaits::never) return;
    std::array<std::byte, 64> host;
    if (bytes > host.size()) throw std::logic_error("a verifier reads back more than a few words");
    check(cudaMemcpyAsync(host.data(), address, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  cudaStream_t stream_;
  HostWaits waits_;
};

template <class Storage>
void launch_verifier_as(const VerifierCall& call, cudaStream_t stream) {
  const VerifierMemory& memory = call.memory;
  const auto batch = static_cast<unsigned>(call.shape.batch);
  const auto gamma = static_cast<unsigned>(call.shape.gamma);
  const auto vocabulary = static_cast<unsigned>(call.shape.vocabulary);
  const VerifierInput<Storage> input{.drafts = {.target_logits = static_cast<const Storage*>(memory.target_logits),
                                                .draft_logits = static_cast<const Storage*>(memory.draft_logits),
                                                .drafts = memory.drafts,
                                                .draft_counts = memory.draft_counts,
                                                .draft_log_sum_exps = nullptr,
                                                .batch = batch,
                                                .gamma = gamma,
                                                .vocabulary = vocabulary,
                                                .draws = call.draws},
                                     .tree = {.target_logits = static_cast<const Storage*>(memory.target_logits),
                                              .node_tokens = memory.node_tokens,
                                              .first_children = memory.first_children,
                                              .next_siblings = memory.next_siblings,
                                              .batch = batch,
                                              .nodes = gamma,
                                              .depth = static_cast<unsigned>(binary_tree(call.shape.gamma).depth()),
                                              .vocabulary = vocabulary,
                                              .draws = call.draws}};
  DeviceLauncher launcher(stream, call.waits);
  launch_verifier(call.verifier, input, memory.output, call.workspace, launcher);
}

template <class Storage>
void launch_logits_as(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                      std::uint64_t seed, cudaStream_t stream) {
  const auto fill = [&](const char* name, void* out, std::int64_t rows_per_request) {
    const std::int64_t rows = shape.batch * rows_per_request;
    if (rows == 0) return;
    const latency::Buffer buffer{name, latency::BufferKind::weight, rows * shape.vocabulary, 1.0, 0};
    launch_kernel(LogitsKernel<Storage>{.stream = content_stream(buffer, seed),
                                        .out = static_cast<Storage*>(out),
                                        .rows = rows,
                                        .rows_per_request = rows_per_request,
                                        .vocabulary = shape.vocabulary,
                                        .spread = profile.spread,
                                        .zipf = profile.zipf,
                                        .peak = peak_of(profile, shape.vocabulary)},
                  stream);
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
