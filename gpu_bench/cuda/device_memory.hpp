// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace foredraft::gpu_bench {

/// Memory on the device, released with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;

  /// Throws MemoryError saying how much was asked for and how much is free.
  explicit DeviceMemory(std::size_t bytes);

  [[nodiscard]] void* get() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Release {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Release> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace foredraft::gpu_bench
