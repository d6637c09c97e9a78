// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// report.md, for people: what was measured on what, the limits, every curve with its fraction of the ceiling, the A/A
/// run and what is missing.
[[nodiscard]] std::string report_markdown(const latency::Profile& profile);

/// The part of the report that sets steps beside their operations: for each broken-down step the time of the whole, the
/// sum of its operations timed alone and the sum of their floors, and what each operation contributes; then how close
/// large products of weights come to the bandwidth of reading.
[[nodiscard]] std::string breakdown_markdown(const latency::Profile& profile);

/// The section of the report about verification steps: every group of verifiers that were timed side by side, the time
/// of each beside the floor that it is held to.
[[nodiscard]] std::string verification_markdown(const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
