// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/stop.hpp"
#include "sim/process/outcome_counts.hpp"

namespace foredraft::sim {

/// Counts iterations of one endless text in cycles from one that starts behind a rejected position to the next such
/// iteration. `after_acceptance`: whether the first starts behind an accepted position. `accepted_steps(i, after)`: how
/// many text positions of iteration i are accepted before the first rejection, the bonus token's among them. The first
/// cycle, cut off in front, and the last, cut off behind, are joined to one unit.
template <class AcceptedSteps>
[[nodiscard]] Tally count_cycles(const IterationShape& shape, std::uint64_t iterations, bool after_acceptance,
                                 StopToken token, const AcceptedSteps& accepted_steps) {
  OutcomeCounts counts(shape);
  bool inside_first_cycle = after_acceptance;
  StopMeter stop(token);
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const std::int64_t steps = accepted_steps(i, after_acceptance);
    stop.spend(1 + steps);
    counts.add(iteration_outcome(shape, steps));
    after_acceptance = steps == shape.max_tokens();
    if (after_acceptance) continue;
    if (inside_first_cycle) {
      counts.set_unit_aside();
      inside_first_cycle = false;
    } else {
      counts.end_unit();
    }
  }
  counts.resume_unit();
  counts.end_unit();
  return counts.tally();
}

}  // namespace foredraft::sim
