// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/config/sweep_config.hpp"

/// What one value cannot tell: whether the values of a sweep fit together.
namespace foredraft::experiments {

/// Refuses what no point uses and what is missing, fills in defaults, sorts the fixed inputs as the parameter table
/// is, and checks the values against each other (gamma against vectors and convention, shapes against processes).
/// `refused`: parameters that were given wrong values; they are not missing too.
void resolve_and_check(SweepConfig& config, const std::vector<const Parameter*>& refused, Problems& problems);

/// Adds a problem with the values of one parameter, with the line and key where they stand.
void report_input(const SweepConfig& config, std::string_view name, Problem problem, Problems& problems);

/// Refuses drafters and policies that do not go with a fidelity, a process, a gamma or each other.
void check_drafting(const SweepConfig& config, const Usage& usage, Problems& problems);

/// Refuses lengths and schedules that a server cannot have, another fidelity beside it, and a plan that counts no
/// requests.
void check_serving(const SweepConfig& config, const Usage& usage, Problems& problems);

/// Refuses more than most_points, with the count and an estimate of the time.
void check_size(const SweepConfig& config, double points, std::int64_t line, Problems& problems);

/// x, series and panel are axes, y a quantity that the sweep computes, and no other axis varies.
void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, Problems& problems);

}  // namespace foredraft::experiments
