// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/server.hpp"
#include "sim/estimates.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/simulators.hpp"
#include "sim/system/serving_simulation.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::sim {
namespace {

std::unique_ptr<Simulator> make(const ProcessFidelity& process, const Scenario& scenario, const SimulationPlan& plan,
                                StopToken /*stop*/) {
  ProcessSimulation simulation{.process = process.acceptance,
                               .gamma = scenario.gamma,
                               .convention = scenario.convention,
                               .drafting = scenario::drafting(scenario.drafter),
                               .iterations = plan.iterations,
                               .sequence = process.sequence_length,
                               .sequences = plan.sequences,
                               .path = plan.path};
  simulation.policy = std::visit([](const auto& policy) -> GammaPolicy { return policy; }, process.policy);
  if (std::holds_alternative<OptimalStopping>(process.policy)) {
    simulation.draft_ratio = draft_ratio(scenario::decoding_cost(scenario).value());
  }
  return make_process_simulator(drafted_by(scenario.drafter, std::move(simulation)));
}

ModelPair models_of(const TokenFidelity& token, const Drafter& drafter) {
  if (const auto* synthetic = std::get_if<SyntheticModels>(&token.models)) return *synthetic;
  if (const auto* given = std::get_if<GivenModels>(&token.models)) return *given->distributions;
  const auto& trained = std::get<NgramModels>(token.models).trained;
  if (!trained) throw std::logic_error("the n-gram models were not trained");
  if (const auto* lookup = std::get_if<PromptLookup>(&drafter)) return PromptLookupPair{trained->target, *lookup};
  return NgramPair{trained->target, trained->drafter.value()};
}

std::unique_ptr<Simulator> make(const TokenFidelity& token, const Scenario& scenario, const SimulationPlan& plan,
                                StopToken stop) {
  return make_token_simulator({.models = models_of(token, scenario.drafter),
                               .rule = token.rule,
                               .temperature = token.temperature,
                               .gamma = scenario.gamma,
                               .convention = scenario.convention,
                               .drafting = scenario::drafting(scenario.drafter),
                               .iterations = plan.iterations},
                              plan.seed, stop);
}

/// `requests`, rounded up to whole batches for static batches.
std::uint64_t whole_batches(std::uint64_t requests, const Server& server) {
  if (server.batching == Batching::continuous) return requests;
  const auto batch = static_cast<std::uint64_t>(server.max_batch);
  return (requests + batch - 1) / batch * batch;
}

std::unique_ptr<Simulator> make(const Server& server, const Scenario& scenario, const SimulationPlan& plan,
                                StopToken /*stop*/) {
  StepTime target_us = server.target_step;
  StepTime drafter_us = server.drafter_step;
  if (const LookedUpTimes* cost = scenario::looked_up(scenario.cost)) {
    target_us = [times = cost->times, convention = scenario.convention](const StepShape& shape) {
      return times->target_us(shape, convention);
    };
    drafter_us = [times = cost->times](const StepShape& shape) { return times->drafter_us(shape); };
  }
  if (plan.replicas == 0) throw DomainError("invalid replicas=0 (must be at least 1)");
  const std::uint64_t share = (plan.requests + plan.replicas - 1) / plan.replicas;
  return make_serving_simulator(
      {.acceptance = server.acceptance,
       .gamma = scenario::gamma_of_batches(server, scenario.gamma),
       .convention = scenario.convention,
       .drafting = scenario::drafting(scenario.drafter),
       .batching = server.batching,
       .admission = server.admission,
       .max_batch = server.max_batch,
       .arrivals = server.arrivals,
       .prompt = server.prompt,
       .output = server.output,
       .target_us = std::move(target_us),
       .drafter_us = std::move(drafter_us),
       .overhead_us = server.overhead_us,
       .latency_goal_us = server.latency_goal_us.value_or(std::numeric_limits<double>::infinity()),
       .requests = whole_batches(share, server),
       .warmup_requests = whole_batches(plan.warmup_requests, server),
       .replicas = plan.replicas});
}

}  // namespace

std::unique_ptr<Simulator> make_simulator(const Scenario& scenario, const SimulationPlan& plan, StopToken stop) {
  return std::visit([&](const auto& fidelity) { return make(fidelity, scenario, plan, stop); }, scenario.fidelity);
}

std::uint64_t max_iterations(Path path, std::int64_t gamma) {
  return max_blocks * plan_iterations(1, path == Path::fast ? 1 : gamma + 1).per_block;
}

std::uint64_t max_sequences(double tokens) { return max_blocks * plan_sequences(1, tokens).per_block; }

Simulated estimates_of(const Scenario& scenario, const Tally& tally) {
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  Simulated simulated{server != nullptr ? serving_estimates(tally.serving) : Estimates{},
                      static_cast<std::uint64_t>(tally.units.sum(iterations)),
                      static_cast<std::uint64_t>(tally.units.count())};
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

}  // namespace foredraft::sim

namespace foredraft {

Simulated simulate(const Scenario& scenario, const SimulationPlan& plan, unsigned threads,
                   const std::atomic<bool>* stop) {
  scenario::check_scenario(scenario);
  scenario::check_read(scenario);
  const std::unique_ptr<sim::Simulator> simulator = sim::make_simulator(scenario, plan, stop);
  const sim::Tally tally = sim::run(*simulator, {.seed = plan.seed, .point = 0, .stop = stop}, threads);
  sim::check_conservation(tally);
  return sim::estimates_of(scenario, tally);
}

}  // namespace foredraft
