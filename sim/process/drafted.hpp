// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/process/process_simulation.hpp"

namespace foredraft::sim {

/// The simulation with the drafter's acceptance, cost and, for input_copy, its policy in place: an Iid process gives
/// the acceptance of the first draft. Throws DomainError on a value outside its range, a drafter of token fidelity
/// alone, and a process or policy that the drafter does not go with.
[[nodiscard]] ProcessSimulation drafted_by(const Drafter& drafter, ProcessSimulation simulation);

}  // namespace foredraft::sim
