// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/config/sweep_config.hpp"

namespace foredraft::experiments {

/// Rough seconds of one core for one point: good enough to plan, to say "about", and to cut a run into chunks.
[[nodiscard]] double seconds_per_point(const SweepConfig& config);

/// The longest draft of any point, 1 without any.
[[nodiscard]] double largest_gamma(const SweepConfig& config);

/// "3 s", "5 min", "2 h", "40 days", "3000 years".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace foredraft::experiments
