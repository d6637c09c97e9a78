// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/iid_run.hpp"

#include "sim/process/process_simulation.hpp"

namespace foredraft::experiments {

sim::Tally simulate(const IidRun& run, const ExperimentSettings& settings) {
  const auto simulator = sim::make_process_simulator({.process = Iid{run.alpha},
                                                      .gamma = run.gamma,
                                                      .convention = Convention::bonus,
                                                      .drafting = Drafting::autoregressive,
                                                      .iterations = run.iterations,
                                                      .sequence = std::nullopt,
                                                      .sequences = 0,
                                                      .path = Path::reference});
  return sim::run(*simulator, {.seed = settings.seed, .point = run.point, .stop = settings.stop}, settings.threads);
}

}  // namespace foredraft::experiments
