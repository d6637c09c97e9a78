// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "gpu_bench/cuda/device_launch.hpp"
#include "gpu_bench/cuda/device_memory.hpp"

namespace foredraft::gpu_bench {

/// Device memory of several batches of one shape, with one workspace for all verifiers after them.
class VerifierBatches {
 public:
  /// Workspace for any of `verifiers`. Throws MemoryError.
  VerifierBatches(const VerificationShape& shape, latency::DataType type, std::int64_t copies,
                  const std::vector<Verifier>& verifiers);

  [[nodiscard]] std::int64_t copies() const { return copies_; }
  [[nodiscard]] VerifierMemory memory(std::int64_t copy) const;
  [[nodiscard]] VerifierCall call(Verifier verifier, std::int64_t copy, const DrawStream& draws, HostWaits waits) const;

  /// Bytes of inputs and outputs of one batch.
  [[nodiscard]] static double bytes(const VerificationShape& shape, latency::DataType type);

 private:
  VerificationShape shape_;
  std::int64_t copies_;
  std::size_t copy_bytes_;
  DeviceMemory batches_;
  DeviceMemory tree_;
  DeviceMemory workspace_memory_;
  Workspace workspace_;
  latency::DataType type_;
};

}  // namespace foredraft::gpu_bench
