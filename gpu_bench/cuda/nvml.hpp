// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace foredraft::gpu_bench {

/// A library looked for at run time, so that the program starts, and says what is missing, without it.
class SharedLibrary {
 public:
  /// The first of `names`, file names or paths, that can be opened.
  explicit SharedLibrary(const std::vector<std::string>& names);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  SharedLibrary(SharedLibrary&&) = delete;
  SharedLibrary& operator=(SharedLibrary&&) = delete;

  [[nodiscard]] bool open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Address of a symbol; null where the library or the symbol is missing.
  [[nodiscard]] void* find(const char* symbol) const;

 private:
  void* handle_ = nullptr;
  std::string name_;
};

// ---- What the driver's management library says of a device, looked for at run time: everything is absent without it.

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
  [[nodiscard]] std::optional<double> max_sm_clock_mhz() const;
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
