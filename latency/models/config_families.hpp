// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"

/// Readers of the config.json of each architecture.
namespace foredraft::latency {

/// The state of a reader of one architecture, which it fills.
struct FamilyReading {
  ConfigObject config;  ///< of the text model
  ModelShape& shape;
  std::vector<std::string>& notes;
};

struct ConfigFamily {
  std::string_view model_type;
  void (*read)(FamilyReading& reading);
};

/// All readers, one entry per model_type, sorted. A new architecture is a new entry.
[[nodiscard]] const std::vector<ConfigFamily>& config_families();

/// Whether the config is that of an EAGLE or EAGLE-3 head: it says so, drafts fewer tokens than the target has, or has
/// one layer of LLaMA.
[[nodiscard]] bool is_eagle_head(const ConfigObject& config);

/// Converts a LLaMA-like config to the shape of a head. Its layer is in reading.config, the head's own keys in `outer`,
/// which may be the same.
void read_eagle_head(FamilyReading& reading, const ConfigObject& outer);

}  // namespace foredraft::latency
