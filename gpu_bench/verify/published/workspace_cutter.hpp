// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "gpu_bench/kernels/workspace.hpp"

namespace foredraft::gpu_bench::published {

/// Cuts the tensors of a call out of a workspace, each at a multiple of 256 bytes. Without memory (null) it only
/// counts, and every tensor is null.
class WorkspaceCutter {
 public:
  explicit WorkspaceCutter(const Workspace& workspace) : workspace_(workspace) {}

  template <class T>
  [[nodiscard]] T* tensor(std::int64_t elements) {
    constexpr std::int64_t alignment_floats = 64;
    constexpr std::int64_t alignment_bytes = 256;
    float* begin = workspace_.floats == nullptr ? nullptr : workspace_.floats + size_.floats;
    const std::int64_t bytes = elements * static_cast<std::int64_t>(sizeof(T));
    size_.floats += (bytes + alignment_bytes - 1) / alignment_bytes * alignment_floats;
    return reinterpret_cast<T*>(begin);
  }

  /// Counters are zero between kernels, so all kernels share the same.
  [[nodiscard]] std::uint32_t* counters(std::int64_t count) {
    if (count > size_.counters) size_.counters = count;
    return workspace_.counters;
  }

  [[nodiscard]] WorkspaceSize size() const { return size_; }

 private:
  Workspace workspace_;
  WorkspaceSize size_;
};

}  // namespace foredraft::gpu_bench::published
