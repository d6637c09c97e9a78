// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/parallel.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/inputs/inputs.hpp"
#include "experiments/sweep/run_points.hpp"

namespace foredraft::experiments {

/// Seconds of one core for a point of `range`, the mean over some of them: for each of these a piece of its simulation
/// and its closed form are timed and the rest is extrapolated, for half a second at most, less where the whole run is
/// short. seconds_per_point() stands in for what cannot be timed. What is computed here goes nowhere.
[[nodiscard]] double timed_seconds_per_point(const SweepConfig& config, const PointRange& range, Inputs& inputs,
                                             StopToken stop);

}  // namespace foredraft::experiments
