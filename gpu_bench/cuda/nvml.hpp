// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

/// What the driver's management library says of a device, looked for at run time: everything is absent without it.
namespace foredraft::gpu_bench {

class Nvml {
 public:
  /// `pci_bus_id` as the CUDA runtime writes it.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  Nvml(Nvml&&) = delete;
  Nvml& operator=(Nvml&&) = delete;

  [[nodiscard]] bool present() const;
  [[nodiscard]] std::optional<std::string> driver_version() const;
  [[nodiscard]] std::optional<double> sm_clock_mhz() const;
  [[nodiscard]] std::optional<double> most_sm_clock_mhz() const;
  [[nodiscard]] std::optional<std::uint64_t> throttle_reasons() const;  ///< nvmlClocksThrottleReason bits
  [[nodiscard]] std::optional<double> power_w() const;
  [[nodiscard]] std::optional<double> power_limit_w() const;
  [[nodiscard]] std::optional<double> temperature_c() const;
  [[nodiscard]] std::optional<bool> mig_enabled() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace foredraft::gpu_bench
