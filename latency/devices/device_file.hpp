// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency/profile/profile.hpp"

/// What a maker prints of a device, as TOML: a table a device, its figures in the units of data sheets.
namespace foredraft::latency {

struct DeviceSheet {
  std::string name;                       ///< of the table: "h100"
  std::vector<std::string> aliases = {};  ///< what else it is called
  Profile profile = {};                   ///< of source datasheet
};

/// A figure as a file states it.
struct SheetFigure {
  std::string_view key;  ///< "memory_bandwidth_gb_per_s"
  double value;          ///< in the unit that the key names
  std::string origin;
};

/// What is known of a device, in the order of the files.
[[nodiscard]] std::vector<SheetFigure> sheet_figures(const Profile& profile);

/// The devices of a file, docs/devices.md. Throws DomainError with one line a problem, `file:line: key: problem (why) -
/// suggestion`, all at once: unknown and missing keys, texts for numbers, figures that no device has, which are mostly
/// of another unit. `name` stands in messages.
[[nodiscard]] std::vector<DeviceSheet> parse_devices(std::string_view text, const std::string& name);

}  // namespace foredraft::latency
