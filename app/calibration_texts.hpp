// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

/// What `foredraft calibrate` prints about a profile.
namespace foredraft::app {

/// A table of the target's passes and the drafting, by batch size and context, followed by notes.
[[nodiscard]] std::string operators_text(const latency::Profile& profile);

/// Result of a calibration as text: the device with its limits, and for each pair, batch size and context the decode
/// step, the draft step, their ratio c, and the growth of a pass with the tokens that it verifies.
[[nodiscard]] std::string calibration_text(const latency::Profile& profile,
                                           const std::vector<gpu_bench::PlannedPair>& pairs);

/// Result of the A/A test and its limits; empty if there was none.
[[nodiscard]] std::string noise_text(const latency::Profile& profile);

/// The message about an invalid profile. Without advice if the user has accepted the noise.
[[nodiscard]] std::string noise_message(std::string_view problem, std::string_view advice, bool accepted);

}  // namespace foredraft::app
