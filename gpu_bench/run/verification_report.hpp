// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// The section of the report about verification steps: every group of verifiers that were timed side by side, the time
/// of each beside the floor that it is held to.
[[nodiscard]] std::string verification_markdown(const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
