// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::experiments {

/// What a calibration found, for people: the device with its limits, and for each pair, batch and context the plain
/// step, the draft step, their ratio c, and how a pass grows with the tokens that it verifies.
[[nodiscard]] std::string calibration_text(const latency::Profile& profile,
                                           const std::vector<gpu_bench::PlannedPair>& pairs);

/// How far rows that were measured twice differ, and what may be; empty where none was.
[[nodiscard]] std::string noise_text(const latency::Profile& profile);

}  // namespace foredraft::experiments
