// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "latency/surfaces/memory_fit.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/inputs.hpp"

namespace foredraft::latency {

/// The data sheet used for prefill passes, for a profile whose steps do not include any.
struct PromptSheet {
  Profile profile;
  SheetPair sheet;
};

/// Models, data-sheet settings and limits.
struct TimedPair {
  std::string target, draft;
  std::vector<ModelShape> models;  ///< searched in addition to the profile's steps
  SheetPair sheet = {};
  /// Memory limit of a device, for weights and caches: passes that do not fit throw; empty: not checked.
  std::optional<double> memory_utilization = {};
  std::optional<PromptSheet> prompts = {};  ///< empty: the profile times prompts as well
  /// Factor on verification times, which are never less than a decode step: the range that their error leaves open.
  double verification = 1.0;
};

/// Nullopt if memory is not checked, and if shapes or the device's memory are not known.
[[nodiscard]] std::optional<MemoryLimit> memory_limit(const Profile& profile, const TimedPair& pair, Role role);

/// Times of the passes of a target and its drafter from a profile, called `name` in messages. Throws DomainError for
/// models and drafters that the profile cannot time; its functions also throw it for what does not fit into memory.
[[nodiscard]] std::shared_ptr<const PassTimes> surface_times(const Profile& profile, const std::string& name,
                                                             const TimedPair& pair, const Drafter& drafter);

}  // namespace foredraft::latency
