// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Facts about a device. Absent: the driver does not report it.
struct DeviceFacts {
  std::string name;
  std::string pci_bus_id;
  int compute_major = 0;
  int compute_minor = 0;
  std::int64_t multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  std::int64_t memory_bus_bits = 0;
  double memory_clock_mhz = 0.0;
  double sm_clock_mhz = 0.0;  ///< boost clock
  bool ecc = false;
  bool cooperative_launch = false;
  std::optional<bool> mig;
  std::optional<double> power_limit_w;
  std::string driver;   ///< version of the driver package, or of the CUDA interface that it supports
  std::string runtime;  ///< version of the CUDA runtime that is linked in
};

/// Number of usable devices; 0 without a device or driver, or if the driver is too old.
[[nodiscard]] int device_count();

/// The reason why device_count() is 0, as one line.
[[nodiscard]] std::string why_no_device();

/// Selects the device for this thread and returns its facts. Throws DomainError if there is none.
[[nodiscard]] DeviceFacts device_facts(int device = 0);

[[nodiscard]] std::string to_text(const DeviceFacts& facts);

/// Versions of everything that made a profile, and this machine.
[[nodiscard]] latency::Identity profile_identity(const DeviceFacts& facts, const std::string& cublaslt);

/// The facts in the form of a profile, each with its origin.
[[nodiscard]] latency::Device profile_device(const DeviceFacts& facts);

}  // namespace foredraft::gpu_bench
