// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/devices.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/profile_json.hpp"

namespace foredraft::experiments {

ReadProfile read_profile(const std::string& name) {
  const auto& shipped = device_texts();
  const auto device =
      std::find_if(shipped.begin(), shipped.end(), [&](const DeviceText& entry) { return entry.name == name; });
  const bool is_shipped = device != shipped.end();
  std::error_code unreadable;
  if (!is_shipped && std::filesystem::status(name, unreadable).type() == std::filesystem::file_type::not_found) {
    throw InputError(fmt::format("{}: neither a file nor a shipped device - {}", readable(name),
                                 suggestion_for(name, shipped_devices())));
  }
  const std::string text = is_shipped ? std::string(device->text) : read_file(name);
  try {
    return {latency::from_json(text, name), digest_text(name, text), is_shipped};
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

}  // namespace foredraft::experiments

namespace foredraft {

std::vector<std::string> shipped_devices() {
  std::vector<std::string> names;
  for (const experiments::DeviceText& device : experiments::device_texts()) names.emplace_back(device.name);
  return names;
}

}  // namespace foredraft
