// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"

/// How the config.json of each architecture names what a shape needs.
namespace foredraft::latency {

/// What a reader of one architecture fills.
struct FamilyReading {
  ConfigObject config;  ///< of the text model
  ModelShape& shape;
  std::vector<std::string>& notes;
};

struct ConfigFamily {
  std::string_view model_type;
  void (*read)(FamilyReading& reading);
};

/// One entry a model_type, sorted. Another architecture is another entry.
[[nodiscard]] const std::vector<ConfigFamily>& config_families();

/// Whether the config is that of an EAGLE or EAGLE-3 head: it says so, drafts fewer tokens than the target has, or has
/// one layer of LLaMA.
[[nodiscard]] bool is_eagle_head(const ConfigObject& config);

/// Makes of a LLaMA-like config (its layer in reading.config, the head's own keys in `outer`, which may be the same)
/// the shape of the head.
void read_eagle_head(FamilyReading& reading, const ConfigObject& outer);

}  // namespace foredraft::latency
