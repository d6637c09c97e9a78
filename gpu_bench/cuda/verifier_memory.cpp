// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/verifier_memory.hpp"

#include <algorithm>
#include <array>

#include "gpu_bench/cuda/device_memory.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Offsets of the parts of a batch, multiples of 256 bytes; the last entry is the end.
std::array<std::size_t, 9> parts_of(const VerificationShape& shape, latency::DataType type) {
  const std::int64_t rows = shape.batch * (shape.gamma + 1);
  const std::int64_t logit_bytes = shape.vocabulary * latency::bytes_of(type);
  const std::int64_t sizes[] = {rows * logit_bytes,                       // target_logits
                                shape.batch * shape.gamma * logit_bytes,  // draft_logits
                                4 * shape.batch * shape.gamma,            // drafts
                                4 * shape.batch,                          // draft_counts
                                4 * rows,                                 // node_tokens
                                4 * rows,                                 // output tokens
                                4 * shape.batch,                          // emitted_counts
                                4 * shape.batch};                         // faults
  constexpr std::int64_t alignment = 256;
  std::array<std::size_t, 9> parts{};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    parts[i + 1] = parts[i] + static_cast<std::size_t>((sizes[i] + alignment - 1) / alignment * alignment);
  }
  return parts;
}

}  // namespace

VerifierBatches::VerifierBatches(const VerificationShape& shape, latency::DataType type, std::int64_t copies,
                                 const std::vector<Verifier>& verifiers)
    : shape_(shape),
      copies_(copies),
      copy_bytes_(parts_of(shape, type).back()),
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
  const auto parts = parts_of(shape_, type_);
  char* begin = static_cast<char*>(batches_.get()) + static_cast<std::size_t>(copy) * copy_bytes_;
  const auto words = [&](std::size_t part) { return reinterpret_cast<std::int32_t*>(begin + parts[part]); };
  const auto* links = static_cast<const std::int32_t*>(tree_.get());
  return {
      .target_logits = begin,
      .draft_logits = begin + parts[1],
      .drafts = words(2),
      .draft_counts = words(3),
      .node_tokens = words(4),
      .first_children = links,
      .next_siblings = links + shape_.gamma + 1,
      .output = {.tokens = words(5), .emitted_counts = words(6), .faults = reinterpret_cast<std::uint32_t*>(words(7))}};
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
  return static_cast<double>(parts_of(shape, type).back());
}

}  // namespace foredraft::gpu_bench
