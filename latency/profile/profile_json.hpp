// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "latency/profile/profile.hpp"

/// profile.json: the profile as a file for programs.
namespace foredraft::latency {

/// The profile as indented JSON with a line end. Besides the fields it has derived values (complete, valid,
/// relative_spread, floor_us, fraction_of_ceiling), for readers in other languages. Throws DomainError as check_profile
/// does.
[[nodiscard]] std::string to_json(const Profile& profile);

/// Parses a profile. Throws DomainError `name: path: problem` for anything that to_json would not write: another
/// schema, a missing or unknown key, a value of the wrong kind, a derived value that does not follow. `name` is the
/// file in messages.
[[nodiscard]] Profile from_json(std::string_view text, const std::string& name);

/// The same for a file that the user named. Throws InputError if it cannot be read.
[[nodiscard]] Profile read_profile(const std::string& path);

// ---- steps.csv, kernels.csv and verifications.csv: the rows of a profile with derived values, as listed in
// docs/metrics.md.

[[nodiscard]] std::string steps_csv(const Profile& profile);
[[nodiscard]] std::string kernels_csv(const Profile& profile);
[[nodiscard]] std::string verifications_csv(const Profile& profile);

// ---- A profile as a single file.

/// Checks a path before a run writes to it. Returns nullopt if nothing is there, or the profile of an incomplete run,
/// whose rows the new run may keep. Throws DomainError for a complete profile, for anything else that is there and if
/// the folder does not exist.
[[nodiscard]] std::optional<Profile> claim_profile_file(const std::string& path);

/// Replaces the file atomically. Throws DomainError as check_profile does, std::runtime_error if it cannot be written.
void write_profile_file(const std::string& path, const Profile& profile);

}  // namespace foredraft::latency
