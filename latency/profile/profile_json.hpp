// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "latency/profile/profile.hpp"

/// profile.json: the one file that programs read.
namespace foredraft::latency {

/// Indented, with a line end. Besides the fields: what follows from them (complete, valid, relative_spread, floor_us,
/// fraction_of_ceiling), for readers in other languages. Throws DomainError where check_profile does.
[[nodiscard]] std::string to_json(const Profile& profile);

/// Throws DomainError `name: path: problem` for anything that to_json would not write: another schema, a missing or
/// unknown key, a value of the wrong kind, a derived value that does not follow. `name` stands in messages.
[[nodiscard]] Profile from_json(std::string_view text, const std::string& name);

/// The same of a file that the user named. Throws InputError where it cannot be read.
[[nodiscard]] Profile read_profile(const std::string& path);

// ---- steps.csv, kernels.csv and verifications.csv: the rows of a profile with what is derived from them, as
// docs/metrics.md lists them.

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
