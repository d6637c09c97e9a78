// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// report.md, for readers: device and versions, the limits, every curve with its fraction of the ceiling, the A/A test
/// and what is missing.
[[nodiscard]] std::string report_markdown(const latency::Profile& profile);

/// The section of the report that compares steps with their operations. For each step measured by operation: the time
/// of the whole, the sum of its operations timed separately, the sum of their lower bounds, and what each operation
/// contributes; then how close large products of weights come to the bandwidth of reading.
[[nodiscard]] std::string breakdown_markdown(const latency::Profile& profile);

/// The section of the report about verification steps: every group of verifiers that were timed interleaved, with the
/// time of each and its target.
[[nodiscard]] std::string verification_markdown(const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
