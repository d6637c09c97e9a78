// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// The part of the report that sets steps beside their operations: for each broken-down step the time of the whole, the
/// sum of its operations timed alone and the sum of their floors, and what each operation contributes; then how close
/// large products of weights come to the bandwidth of reading.
[[nodiscard]] std::string breakdown_markdown(const latency::Profile& profile);

}  // namespace foredraft::gpu_bench
