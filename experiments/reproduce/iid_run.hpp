// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "experiments/reproduce/experiment.hpp"
#include "sim/tally.hpp"

namespace foredraft::experiments {

/// A simulated run that reproduces a printed setting: i.i.d. acceptance by the reference path, one draw per drafted
/// token, bonus convention, autoregressive drafting. `point` numbers the runs of one experiment.
struct IidRun {
  double alpha;
  std::int64_t gamma;
  std::uint64_t iterations;
  std::uint64_t point;
};

[[nodiscard]] sim::Tally simulate(const IidRun& run, const ExperimentSettings& settings);

}  // namespace foredraft::experiments
