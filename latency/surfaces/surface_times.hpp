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

/// The data sheet that the passes over prompts are answered by, for a profile whose steps time none.
struct PromptSheet {
  Profile profile;
  SheetPair sheet;
};

/// Which models, how a data sheet answers for them, and what else counts.
struct TimedPair {
  std::string target, draft;
  std::vector<ModelShape> models;  ///< where they are found besides the profile's steps
  SheetPair sheet = {};
  /// Of a device's memory, for weights and caches: what does not fit is refused; nothing: memory is not looked at.
  std::optional<double> memory_utilization = {};
  std::optional<PromptSheet> prompts = {};  ///< nothing: the profile times prompts as well
  /// Verifications take so many times what the profile says, but no less than a plain step: what its error leaves open.
  double verification = 1.0;
};

/// Nothing where memory is not looked at, and where shapes or the device's memory are not known.
[[nodiscard]] std::optional<MemoryLimit> memory_limit(const Profile& profile, const TimedPair& pair, Role role);

/// Times of the passes of a target and its drafter from a profile, called `name` in messages. Throws DomainError for
/// models and drafters that the profile cannot time; its functions throw it for what does not fit into memory as well.
[[nodiscard]] std::shared_ptr<const PassTimes> surface_times(const Profile& profile, const std::string& name,
                                                             const TimedPair& pair, const Drafter& drafter);

}  // namespace foredraft::latency
