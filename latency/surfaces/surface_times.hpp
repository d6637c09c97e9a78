// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "latency/profile/profile.hpp"
#include "scenario/pass_times.hpp"

namespace foredraft::latency {

/// Times of the passes of a target and its drafter from a profile, called `name` in messages. Throws DomainError for
/// models and drafters that the profile cannot time.
[[nodiscard]] std::shared_ptr<const PassTimes> surface_times(const Profile& profile, const std::string& name,
                                                             const LookedUpTimes& models, const Drafter& drafter);

}  // namespace foredraft::latency
