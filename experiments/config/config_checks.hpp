// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "experiments/config/sweep_config.hpp"
#include "experiments/text/problems.hpp"

/// What a configuration says beyond its scenarios; scenario/check.hpp says whether those are sound.
namespace foredraft::experiments {

/// Rejects a plan that does not count what these scenarios run, and its absence where nothing else answers.
void check_plan(const SweepConfig& config, Problems& problems);

/// Rejects more than most_points, with the count and an estimate of the time.
void check_size(const SweepConfig& config, double points, std::int64_t line, Problems& problems);

/// x, series and panel are axes, y a quantity that the sweep computes, and no other axis varies.
void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, Problems& problems);

}  // namespace foredraft::experiments
