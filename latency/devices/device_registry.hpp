// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency/devices/device_file.hpp"

namespace foredraft::latency {

/// The shipped devices: every table of latency/devices/*.toml, compiled in, sorted by name.
[[nodiscard]] const std::vector<DeviceSheet>& device_registry();

/// `name` as names are compared: lower case, without blanks, dashes, underscores and makers' words (NVIDIA, GeForce,
/// AMD, ...).
[[nodiscard]] std::string plain_device_name(std::string_view name);

/// The device of this name, alias or full name, whatever its case and separators; null where there is none.
[[nodiscard]] const DeviceSheet* find_device(std::string_view name);

}  // namespace foredraft::latency
