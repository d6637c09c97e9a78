// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/errors.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// More memory is needed than is free. The run continues without the cell.
class MemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls attempt(). Returns the message of a MemoryError or DomainError: what was attempted is missing, the run goes
/// on.
template <class Attempt>
[[nodiscard]] std::optional<std::string> why_not_measured(const Attempt& attempt) {
  try {
    attempt();
  } catch (const MemoryError& error) {
    return error.what();
  } catch (const DomainError& error) {
    return error.what();
  }
  return std::nullopt;
}

// ---- samples.csv: one line for each visit of a row, with all counted samples in their order. The name of a later
// visit ends with its number (" visit 2"), and the row is made from the samples of all visits. If a name occurs
// repeatedly, the last line counts.

/// Appends `what` and its times, to five digits; the column names precede the first line.
void append_samples(std::string& table, std::string_view what, const std::vector<double>& samples_us);

/// "project rows 1 outputs 64 inputs 32 fp16 cold graph": a kernel's row in samples.csv, as to_text names a step's.
[[nodiscard]] std::string to_text(const latency::KernelRow& row);

/// Identifies these bytes in profile.json.
[[nodiscard]] latency::RawSamples raw_samples_of(std::string_view table);

/// report.md, for readers: device and versions, the limits, every curve with its fraction of the ceiling, passes beside
/// their operations, verifiers, the A/A test and what is missing.
[[nodiscard]] std::string report_markdown(const latency::Profile& profile);

// ---- The folder of a measurement: profile.json, steps.csv, kernels.csv, verifications.csv, samples.csv, report.md.

/// Checks a folder before a run writes into it. Returns nullopt if it does not exist or is empty, or the profile of an
/// incomplete run, whose rows the new run may keep. Throws DomainError for a complete profile, for files of another
/// origin and for a file of that name.
[[nodiscard]] std::optional<latency::Profile> claim_profile_folder(const std::string& folder);

/// Writes all files, each replaced atomically, profile.json last, so that everything it names exists. `samples` becomes
/// samples.csv; empty: no such file. Requires its WriteLock. Throws DomainError as check_profile does,
/// std::runtime_error if a file cannot be written.
void write_profile_folder(const std::string& folder, latency::Profile profile, const std::string& samples = {});

/// The samples of an unfinished profile in this folder; empty if it has none. Omits what a killed run wrote after its
/// profile. Throws DomainError if they are not those of the profile.
[[nodiscard]] std::string read_samples(const std::string& folder, const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
