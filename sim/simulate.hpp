// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

/// The simulation of a scenario.
namespace foredraft::sim {

/// A prepared run. Throws DomainError for what only its preparation finds out, e.g. an alpha that a draft cannot reach.
[[nodiscard]] std::unique_ptr<Simulator> make_simulator(const Scenario& scenario, const SimulationPlan& plan);

/// What the merged tally of its blocks says.
[[nodiscard]] Simulated estimates_of(const Scenario& scenario, const Tally& tally);

/// The exact acceptance of a token simulation whose iterations are i.i.d.: pooled contexts; NaN for any other.
[[nodiscard]] double pool_acceptance(const Scenario& scenario, const Simulator& simulator);

}  // namespace foredraft::sim
