// SPDX-License-Identifier: Apache-2.0
#include "latency/devices/device_registry.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>

namespace foredraft::latency {
namespace {

constexpr std::array<std::string_view, 7> makers_words{"nvidia",   "geforce", "tesla", "amd",
                                                       "instinct", "apple",   "intel"};

std::vector<DeviceSheet> all_shipped_sheets() {
  std::vector<DeviceSheet> devices;
  for (const DeviceText& file : device_texts()) {
    std::vector<DeviceSheet> family = parse_devices(file.text, fmt::format("latency/devices/{}.toml", file.name));
    std::move(family.begin(), family.end(), std::back_inserter(devices));
  }
  std::sort(devices.begin(), devices.end(), [](const DeviceSheet& a, const DeviceSheet& b) { return a.name < b.name; });
  return devices;
}

}  // namespace

const std::vector<DeviceSheet>& device_registry() {
  static const std::vector<DeviceSheet> devices = all_shipped_sheets();
  return devices;
}

std::string plain_device_name(std::string_view name) {
  std::string plain;
  std::string word;
  const auto end_word = [&] {
    if (std::find(makers_words.begin(), makers_words.end(), word) == makers_words.end()) plain += word;
    word.clear();
  };
  for (const char character : name) {
    if (character == ' ' || character == '-' || character == '_') {
      end_word();
    } else {
      word += character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
    }
  }
  end_word();
  return plain;
}

const DeviceSheet* find_device(std::string_view name) {
  const std::string wanted = plain_device_name(name);
  const auto is_wanted = [&](const std::string& other) { return plain_device_name(other) == wanted; };
  for (const DeviceSheet& device : device_registry()) {
    if (is_wanted(device.name) || is_wanted(device.profile.device.name)) return &device;
    if (std::any_of(device.aliases.begin(), device.aliases.end(), is_wanted)) return &device;
  }
  return nullptr;
}

}  // namespace foredraft::latency
