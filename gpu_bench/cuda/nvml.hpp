// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace foredraft::gpu_bench {

/// A library loaded at run time, so that the program starts without it and can report what is missing.
class SharedLibrary {
 public:
  /// Opens the first of `names`, file names or paths, that can be opened.
  explicit SharedLibrary(const std::vector<std::string>& names);

  [[nodiscard]] bool open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Address of a symbol; null if the library or the symbol is missing.
  [[nodiscard]] void* find(const char* symbol) const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  std::string name_;
};

// ---- Data of the driver's management library, loaded at run time; without it everything is absent.

class Nvml {
 public:
  /// `pci_bus_id` in the format of the CUDA runtime.
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
