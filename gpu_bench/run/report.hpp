// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// report.md, for readers: device and versions, the limits, every curve with its fraction of the ceiling, the A/A test
/// and what is missing.
[[nodiscard]] std::string report_markdown(const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
