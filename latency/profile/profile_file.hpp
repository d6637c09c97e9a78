// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "latency/profile/profile.hpp"

/// A profile as one file of its own.
namespace foredraft::latency {

/// Looks at a path before a run writes to it. Nothing where nothing is there; the profile of a run that did not finish,
/// whose rows the new run may keep. Throws DomainError for a finished profile, for anything else that is there and
/// where there is no folder to write into.
[[nodiscard]] std::optional<Profile> claim_profile_file(const std::string& path);

/// Replaces the file in one step. Throws DomainError where check_profile does, std::runtime_error where it cannot be
/// written.
void write_profile_file(const std::string& path, const Profile& profile);

}  // namespace foredraft::latency
