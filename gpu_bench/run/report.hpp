// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// report.md, for people: what was measured on what, the limits, every curve with its fraction of the ceiling, the A/A
/// run and what is missing.
[[nodiscard]] std::string report_markdown(const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
