// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "latency/profile/profile.hpp"

/// steps.csv, kernels.csv and verifications.csv: the rows of a profile with what is derived from them, as
/// docs/metrics.md lists them.
namespace foredraft::latency {

[[nodiscard]] std::string steps_csv(const Profile& profile);
[[nodiscard]] std::string kernels_csv(const Profile& profile);
[[nodiscard]] std::string verifications_csv(const Profile& profile);

// ---- A profile as one file of its own.

/// Looks at a path before a run writes to it. Nothing where nothing is there; the profile of a run that did not finish,
/// whose rows the new run may keep. Throws DomainError for a finished profile, for anything else that is there and
/// where there is no folder to write into.
[[nodiscard]] std::optional<Profile> claim_profile_file(const std::string& path);

/// Replaces the file in one step. Throws DomainError where check_profile does, std::runtime_error where it cannot be
/// written.
void write_profile_file(const std::string& path, const Profile& profile);

}  // namespace foredraft::latency
