// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "latency/profile/profile.hpp"

/// The folder that a measurement leaves: profile.json, steps.csv, kernels.csv, samples.csv, report.md.
namespace foredraft::gpu_bench {

/// Looks at a folder before a run writes into it. Nothing where it does not exist or is empty; the profile of a run
/// that did not finish, whose rows the new run may keep. Throws DomainError for a finished profile, for files that are
/// not ours and for a file of that name.
[[nodiscard]] std::optional<latency::Profile> claim_profile_folder(const std::string& folder);

/// Writes all files, each replaced in one step, profile.json last: what it says is there. `samples` becomes
/// samples.csv; empty: there is none. Its WriteLock is held. Throws DomainError where check_profile does,
/// std::runtime_error where a file cannot be written.
void write_profile_folder(const std::string& folder, latency::Profile profile, const std::string& samples = {});

/// The samples behind an unfinished profile of this folder; empty where it has none. A run that was killed may have
/// written more than its profile knows, which is left out. Throws DomainError where they are not those of the profile.
[[nodiscard]] std::string read_samples(const std::string& folder, const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
