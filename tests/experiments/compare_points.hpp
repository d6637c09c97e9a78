// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/answer/answer.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "scenario/drafters.hpp"
#include "sim/simulate.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {

/// Simulates every point and compares each quantity with its closed form. Returns the number of comparisons.
inline std::size_t compare_points(const experiments::SweepConfig& config) {
  using namespace experiments;
  inputs::Inputs inputs;
  const Points points(config);
  std::size_t compared = 0;
  for (std::uint64_t index = 0; index < points.count(); ++index) {
    Scenario scenario = points.scenario(index);
    inputs.attach(scenario);
    const auto simulator = sim::make_simulator(scenario, *config.simulation);
    const sim::Tally tally = sim::run(*simulator, {config.simulation->seed, index}, 1);
    sim::check_conservation(tally);
    const Simulated simulated = sim::estimates_of(scenario, tally);
    const ClosedForm closed_form = analytic::answer(scenario, sim::pool_acceptance(scenario, *simulator));
    for (const scenario::Metric& metric : scenario::metrics()) {
      const auto deviation = deviation_in_se(closed_form, simulated, metric);
      if (!deviation) continue;
      INFO("point " << index << " " << scenario::name_of(scenario.drafter) << ", " << metric.name << ": "
                    << closed_form.*metric.closed_form << " and " << (simulated.estimates.*metric.estimate).mean);
      CHECK(std::abs(*deviation) < standard_errors);
      ++compared;
    }
  }
  return compared;
}

}  // namespace foredraft::tests
