// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/text/digest.hpp"
#include "experiments/text/table.hpp"
#include "foredraft/profile.hpp"
#include "latency/profile/profile.hpp"

/// The devices that a prediction can name.
namespace foredraft::experiments {

/// A profile and its digest: of a file that of its bytes, of a shipped data sheet that of the profile as JSON, which no
/// other device changes.
struct ReadProfile {
  latency::Profile profile;
  FileDigest digest;
  bool shipped;  ///< compiled in: no file
};

/// The data sheet of a shipped device, by its name, an alias or its full name (latency::find_device), or of a TOML file
/// with one device (docs/devices.md). Throws InputError where neither is there, for a file that is no data sheet, and
/// for profiles, which are named as such.
[[nodiscard]] ReadProfile read_device(const std::string& name);

/// The same, shipped operators of an engine (operators_texts), or the profile of a JSON file.
[[nodiscard]] ReadProfile read_profile(const std::string& name);

/// The shipped data sheets: memory as programs can use it (GB, 1e9 bytes), bandwidths (GB/s; of links each way) and
/// dense matrix peaks (TFLOP/s). At most 100 columns wide as text.
[[nodiscard]] Table device_table();

/// What docs/devices.md generates: the table, and names and sources of each device.
[[nodiscard]] std::string devices_markdown();

}  // namespace foredraft::experiments
