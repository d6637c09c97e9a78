// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/problems.hpp"
#include "experiments/config/sweep_config.hpp"
#include "scenario/value.hpp"

namespace foredraft::experiments {

/// Rough seconds of one core for one point: good enough to plan, to say "about", and to cut a run into chunks.
[[nodiscard]] double seconds_per_point(const SweepConfig& config);

/// The longest draft of any point, 1 without any.
[[nodiscard]] double largest_gamma(const SweepConfig& config);

/// "3 s", "5 min", "2 h", "40 days", "3000 years".
[[nodiscard]] std::string duration_text(double seconds);

// ---- What a configuration says beyond its scenarios; scenario/check.hpp says whether those are sound.

/// Rejects a plan that does not count what these scenarios run or counts more than can be run, and its absence where
/// nothing else answers. `table`: [simulation] as it was written, null without.
void check_plan(const SweepConfig& config, const scenario::Mapping* table, ProblemList& problems);

/// Rejects more than max_points, with the count and an estimate of the time.
void check_size(const SweepConfig& config, double points, std::int64_t line, ProblemList& problems);

/// x, series and panel are axes, y a quantity that the sweep computes, and no other axis varies.
void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, ProblemList& problems);

}  // namespace foredraft::experiments
