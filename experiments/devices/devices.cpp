// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/devices.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/check.hpp"
#include "core/files.hpp"
#include "core/readable.hpp"
#include "experiments/text/problems.hpp"
#include "gpu_bench/profile/profile_json.hpp"

namespace foredraft::experiments {

std::vector<std::string> shipped_devices() {
  std::vector<std::string> names;
  for (const DeviceText& device : device_texts()) names.emplace_back(device.name);
  return names;
}

std::string profile_text(const std::string& name) {
  const auto& shipped = device_texts();
  const auto device =
      std::find_if(shipped.begin(), shipped.end(), [&](const DeviceText& entry) { return entry.name == name; });
  if (device != shipped.end()) return std::string(device->text);
  std::error_code error;
  const auto kind = std::filesystem::status(name, error).type();
  if (kind != std::filesystem::file_type::not_found) return read_file(name);
  throw InputError(fmt::format("{}: neither a file nor a shipped device - {}", readable(name),
                               suggestion_for(name, shipped_devices())));
}

gpu_bench::Profile load_profile(const std::string& name) {
  const std::string text = profile_text(name);
  try {
    return gpu_bench::from_json(text, name);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

}  // namespace foredraft::experiments
