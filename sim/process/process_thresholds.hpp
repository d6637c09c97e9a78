// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/process/process_simulation.hpp"
#include "sim/process/threshold.hpp"

/// The acceptance processes as rows of thresholds. Traces have none: they are replayed.
namespace foredraft::sim {

/// [k]: acceptance of position k given that all before it in the iteration were accepted; `after_acceptance` tells
/// whether the token before the iteration was (the Markov chain alone cares). A Beta mixture is given as the positional
/// process with the same law of an iteration: (a + k) / (a + b + k).
[[nodiscard]] Thresholds acceptance_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                               bool after_acceptance);

/// [k]: position k and all before it in the iteration accepted. Never increases with k.
[[nodiscard]] Thresholds survival_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                             bool after_acceptance);

}  // namespace foredraft::sim
