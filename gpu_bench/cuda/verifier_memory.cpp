// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/verifier_memory.hpp"

#include <algorithm>
#include <cstddef>

#include "gpu_bench/cuda/device_memory.hpp"

namespace foredraft::gpu_bench {
namespace {

/// The parts of a batch, except the links of its tree.
VerifierMemory cut_batch(const VerificationShape& shape, latency::DataType type, WorkspaceCutter& cutter) {
  const std::int64_t rows = shape.batch * (shape.gamma + 1);
  const std::int64_t logit_bytes = shape.vocabulary * latency::bytes_of(type);
  return {.target_logits = cutter.tensor<std::byte>(rows * logit_bytes),
          .draft_logits = cutter.tensor<std::byte>(shape.batch * shape.gamma * logit_bytes),
          .drafts = cutter.tensor<std::int32_t>(shape.batch * shape.gamma),
          .draft_counts = cutter.tensor<std::int32_t>(shape.batch),
          .node_tokens = cutter.tensor<std::int32_t>(rows),
          .first_children = nullptr,
          .next_siblings = nullptr,
          .output = {.tokens = cutter.tensor<std::int32_t>(rows),
                     .emitted_counts = cutter.tensor<std::int32_t>(shape.batch),
                     .faults = cutter.tensor<std::uint32_t>(shape.batch)}};
}

std::size_t batch_bytes(const VerificationShape& shape, latency::DataType type) {
  WorkspaceCutter cutter;
  static_cast<void>(cut_batch(shape, type, cutter));
  return static_cast<std::size_t>(cutter.size().floats) * sizeof(float);
}

}  // namespace

VerifierBatches::VerifierBatches(const VerificationShape& shape, latency::DataType type, std::int64_t copies,
                                 const std::vector<Verifier>& verifiers)
    : shape_(shape),
      copies_(copies),
      copy_bytes_(batch_bytes(shape, type)),
      batches_(copy_bytes_ * static_cast<std::size_t>(copies)),
      tree_(2 * 4 * static_cast<std::size_t>(shape.gamma + 1)),
      workspace_{},
      type_(type) {
  WorkspaceSize size;
  for (const Verifier verifier : verifiers) {
    const WorkspaceSize needed = verification_cost(verifier, shape, type).workspace;
    size.floats = std::max(size.floats, needed.floats);
    size.counters = std::max(size.counters, needed.counters);
  }
  workspace_memory_ = DeviceMemory(static_cast<std::size_t>(4 * (size.floats + size.counters)));
  // Counters are zero; floats are NaN, so that unwritten memory does not look like a result.
  check(cudaMemset(workspace_memory_.get(), 0xff, static_cast<std::size_t>(4 * size.floats)), "cudaMemset");
  auto* floats = static_cast<float*>(workspace_memory_.get());
  workspace_ = {.floats = floats, .counters = reinterpret_cast<std::uint32_t*>(floats + size.floats)};
  check(cudaMemset(workspace_.counters, 0, static_cast<std::size_t>(4 * size.counters)), "cudaMemset");

  const TreeShape tree = binary_tree(shape.gamma);
  const auto nodes = static_cast<std::size_t>(shape.gamma + 1);
  auto* links = static_cast<std::int32_t*>(tree_.get());
  check(cudaMemcpy(links, tree.first_children().data(), 4 * nodes, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemcpy(links + nodes, tree.next_siblings().data(), 4 * nodes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

VerifierMemory VerifierBatches::memory(std::int64_t copy) const {
  char* begin = static_cast<char*>(batches_.get()) + static_cast<std::size_t>(copy) * copy_bytes_;
  WorkspaceCutter cutter({.floats = reinterpret_cast<float*>(begin), .counters = nullptr});
  VerifierMemory memory = cut_batch(shape_, type_, cutter);
  memory.first_children = static_cast<const std::int32_t*>(tree_.get());
  memory.next_siblings = memory.first_children + shape_.gamma + 1;
  return memory;
}

VerifierCall VerifierBatches::call(Verifier verifier, std::int64_t copy, const DrawStream& draws,
                                   HostWaits waits) const {
  return {.verifier = verifier,
          .shape = shape_,
          .memory = memory(copy),
          .workspace = workspace_,
          .draws = draws,
          .waits = waits};
}

double VerifierBatches::bytes(const VerificationShape& shape, latency::DataType type) {
  return static_cast<double>(batch_bytes(shape, type));
}

}  // namespace foredraft::gpu_bench
