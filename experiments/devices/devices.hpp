// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/text/digest.hpp"
#include "experiments/text/table.hpp"
#include "foredraft/profile.hpp"
#include "latency/profile/profile.hpp"

/// The devices for predictions.
namespace foredraft::experiments {

/// A profile and its digest: that of the bytes of a file, or for a shipped data sheet that of the profile as JSON,
/// which does not depend on other devices.
struct ReadProfile {
  latency::Profile profile;
  FileDigest digest;
  bool shipped;  ///< compiled in, not a file
};

/// The data sheet of a shipped device by its name, an alias or its full name (latency::find_device), or of a TOML file
/// with one device (docs/devices.md). Throws InputError if there is neither, for a file that is not a data sheet, and
/// for profiles, with a message that says so.
[[nodiscard]] ReadProfile read_device(const std::string& name);

/// The same, or shipped operators of an engine (operators_texts), or the profile of a JSON file.
[[nodiscard]] ReadProfile read_profile(const std::string& name);

/// Table of the shipped data sheets: memory usable by programs (GB, 1e9 bytes), bandwidths (GB/s; of links each way)
/// and dense matrix peaks (TFLOP/s). At most 100 columns wide as text.
[[nodiscard]] Table device_table();

/// The generated parts of docs/devices.md: the table, and names and sources of each device.
[[nodiscard]] std::string devices_markdown();

}  // namespace foredraft::experiments
