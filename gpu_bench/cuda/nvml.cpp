// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/nvml.hpp"

#include <dlfcn.h>
#include <array>

namespace foredraft::gpu_bench {

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (handle_ == nullptr) continue;
    name_ = name;
    return;
  }
}

void SharedLibrary::Close::operator()(void* handle) const { dlclose(handle); }

void* SharedLibrary::find(const char* symbol) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_.get(), symbol);
}

namespace {

// Copied from nvml.h, which comes with the driver's development files and not with every toolkit.
constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;
constexpr int nvml_temperature_gpu = 0;
using NvmlDevice = void*;

}  // namespace

struct Nvml::Functions {
  SharedLibrary library{{"libnvidia-ml.so.1"}};
  NvmlDevice device = nullptr;

  template <class... Arguments>
  [[nodiscard]] bool call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(library.find(name));
    return function != nullptr && function(arguments...) == nvml_success;
  }

  [[nodiscard]] std::optional<double> number(const char* name, double unit) const {
    unsigned value = 0;
    return device != nullptr && call(name, device, &value) ? std::optional(unit * value) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> number_of(const char* name, int kind) const {
    unsigned value = 0;
    return device != nullptr && call(name, device, kind, &value) ? std::optional(1.0 * value) : std::nullopt;
  }
};

Nvml::Nvml(const std::string& pci_bus_id) : functions_(std::make_unique<Functions>()) {
  if (functions_->call("nvmlInit_v2") &&
      !functions_->call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &functions_->device)) {
    functions_->device = nullptr;
  }
}

Nvml::~Nvml() { static_cast<void>(functions_->call("nvmlShutdown")); }

bool Nvml::present() const { return functions_->device != nullptr; }

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  const auto size = static_cast<unsigned>(text.size());
  return functions_->call("nvmlSystemGetDriverVersion", text.data(), size) ? std::optional(std::string(text.data()))
                                                                           : std::nullopt;
}

std::optional<double> Nvml::sm_clock_mhz() const {
  return functions_->number_of("nvmlDeviceGetClockInfo", nvml_clock_sm);
}
std::optional<double> Nvml::max_sm_clock_mhz() const {
  return functions_->number_of("nvmlDeviceGetMaxClockInfo", nvml_clock_sm);
}
std::optional<double> Nvml::temperature_c() const {
  return functions_->number_of("nvmlDeviceGetTemperature", nvml_temperature_gpu);
}
std::optional<double> Nvml::power_w() const { return functions_->number("nvmlDeviceGetPowerUsage", 1e-3); }
std::optional<double> Nvml::power_limit_w() const {
  return functions_->number("nvmlDeviceGetEnforcedPowerLimit", 1e-3);
}

std::optional<std::uint64_t> Nvml::throttle_reasons() const {
  unsigned long long reasons = 0;
  if (!present() || !functions_->call("nvmlDeviceGetCurrentClocksThrottleReasons", functions_->device, &reasons))
    return {};
  return reasons;
}

std::optional<bool> Nvml::mig_enabled() const {
  unsigned current = 0;
  unsigned pending = 0;
  if (!present() || !functions_->call("nvmlDeviceGetMigMode", functions_->device, &current, &pending)) return {};
  return current != 0;
}

}  // namespace foredraft::gpu_bench
