// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/devices.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/check.hpp"
#include "core/files.hpp"
#include "experiments/text/problems.hpp"
#include "latency/profile/profile_json.hpp"

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
  if (std::filesystem::exists(name)) return read_file(name);
  throw InputError(
      fmt::format("{}: neither a file nor a shipped device - {}", name, suggestion_for(name, shipped_devices())));
}

latency::Profile load_profile(const std::string& name) {
  const std::string text = profile_text(name);
  try {
    return latency::from_json(text, name);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

}  // namespace foredraft::experiments
