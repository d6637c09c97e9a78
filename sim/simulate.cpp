// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.hpp"

#include <variant>

#include "scenario/check.hpp"
#include "scenario/cost.hpp"
#include "sim/estimates.hpp"
#include "sim/process/process_simulator.hpp"
#include "sim/system/serving_simulator.hpp"
#include "sim/system/steady_state.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::sim {

std::unique_ptr<Simulator> make_simulator(const Scenario& scenario, const SimulationPlan& plan, StopToken stop) {
  scenario::check_scenario(scenario);
  scenario::check_read(scenario);
  if (std::holds_alternative<ProcessFidelity>(scenario.fidelity)) return make_process_simulator(scenario, plan);
  if (std::holds_alternative<TokenFidelity>(scenario.fidelity)) return make_token_simulator(scenario, plan, stop);
  return make_serving_simulator(scenario, plan);
}

std::uint64_t max_iterations(Path path, std::int64_t gamma) {
  return max_blocks * plan_iterations(1, path == Path::fast ? 1 : gamma + 1).per_block;
}

std::uint64_t max_sequences(double tokens) { return max_blocks * plan_sequences(1, tokens).per_block; }

Simulated estimates_of(const Scenario& scenario, const Tally& tally) {
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  Simulated simulated{server != nullptr ? serving_estimates(tally.serving) : Estimates{},
                      static_cast<std::uint64_t>(tally.units.sum(iterations)),
                      static_cast<std::uint64_t>(tally.units.count()),
                      {}};
  if (server != nullptr) simulated.unsteady = unsteady(*server, tally.serving);
  Estimates& estimates = simulated.estimates;
  estimates.tokens_per_iteration = tokens_per_iteration(tally);
  estimates.tokens_variance = tokens_variance_estimate(tally, simulated.units == simulated.iterations);
  estimates.memory_access_factor = memory_access_factor(tally);
  if (const auto cost = scenario::decoding_cost(scenario)) estimates.speedup = speedup(tally, *cost);
  if (scenario.operations_ratio) {
    estimates.operations_factor = operations_factor(tally, *scenario.operations_ratio, scenario.convention);
  }
  estimates.per_token = ratio(tally, accepted, tested);
  estimates.accepted_over_drafted = ratio(tally, accepted, drafted);
  if (scenario::gamma_varies(scenario) || (server != nullptr && !server->gamma_schedule.empty())) {
    estimates.mean_gamma = ratio(tally, drafted, iterations);
  }
  if (server != nullptr && !server->latency_goal_us) estimates.goodput_tokens_per_s = unknown<Estimate>;
  return simulated;
}

double pool_acceptance(const Scenario& scenario, const Simulator& simulator) {
  const auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  const bool iterations_are_iid = token != nullptr && !std::holds_alternative<NgramModels>(token->models);
  return iterations_are_iid ? expected_acceptance(simulator) : unknown<double>;
}

double pool_optimum(const Simulator& simulator) { return exact_acceptance(simulator).optimal; }

}  // namespace foredraft::sim

namespace foredraft {

Simulated simulate(const Scenario& scenario, const SimulationPlan& plan, unsigned threads,
                   const std::atomic<bool>* stop) {
  const std::unique_ptr<sim::Simulator> simulator = sim::make_simulator(scenario, plan, stop);
  const sim::Tally tally = sim::run(*simulator, {.seed = plan.seed, .point = 0, .stop = stop}, threads);
  sim::check_conservation(tally);
  return sim::estimates_of(scenario, tally);
}

}  // namespace foredraft
