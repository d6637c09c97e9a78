// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cmath>

#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {

/// Simulates every point and holds each quantity with a closed form to it. Returns how many were compared.
inline std::size_t compare_points(const experiments::SweepConfig& config) {
  using namespace experiments;
  Resources resources;
  const Points points(config);
  std::size_t compared = 0;
  for (std::uint64_t index = 0; index < points.count(); ++index) {
    const PointInputs inputs = points.inputs(index);
    const auto simulator = make_simulator(inputs, *config.simulation, resources);
    const sim::Tally tally = sim::run(*simulator, {config.simulation->seed, index}, 1);
    sim::check_conservation(tally);
    const SimulatedAnswer simulated = simulated_answer(inputs, tally);
    const AnalyticAnswer analytic = analytic_answer(inputs, pool_acceptance(inputs, *simulator));
    for (std::size_t i = 0; i < metric_count; ++i) {
      const auto deviation = deviation_in_se(analytic, simulated, i);
      if (!deviation) continue;
      INFO("point " << index << " " << inputs.drafter << ", " << metrics()[i].name << ": " << *analytic[i] << " and "
                    << simulated.estimates[i]->mean);
      CHECK(std::abs(*deviation) < standard_errors);
      ++compared;
    }
  }
  return compared;
}

}  // namespace foredraft::tests
