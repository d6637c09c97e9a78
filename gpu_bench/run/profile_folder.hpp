// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Something needs more memory than is free. The run goes on without it.
class MemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user wants the run to end. Arms throw it; what was measured is kept.
struct Interrupted {};

// ---- samples.csv: a line for each row of a profile with every sample that counts, in the order in which they were
// taken; " again" behind a name: of the A/A run. The last line of a name is the one that its row was made of.

/// Appends `what` and its times, to five digits; the names of the columns come before the first line.
void append_samples(std::string& table, std::string_view what, const std::vector<double>& samples_us);

/// "project rows 1 outputs 64 inputs 32 fp16 cold graph": a kernel's row in samples.csv, as to_text names a step's.
[[nodiscard]] std::string to_text(const latency::KernelRow& row);

/// How profile.json tells these bytes from others.
[[nodiscard]] latency::RawSamples raw_samples_of(std::string_view table);

// ---- The folder that a measurement leaves: profile.json, steps.csv, kernels.csv, samples.csv, report.md.

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
