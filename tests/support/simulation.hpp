// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/cost.hpp"
#include "sim/simulate.hpp"
#include "sim/simulator.hpp"

namespace foredraft::tests {

/// A scenario, and the amount of simulation.
struct Simulation {
  Scenario scenario;
  SimulationPlan plan;

  [[nodiscard]] ProcessFidelity& process() { return std::get<ProcessFidelity>(scenario.fidelity); }
  [[nodiscard]] TokenFidelity& token() { return std::get<TokenFidelity>(scenario.fidelity); }
  [[nodiscard]] Server& server() { return std::get<Server>(scenario.fidelity); }
};

[[nodiscard]] inline std::unique_ptr<sim::Simulator> simulator_of(const Simulation& simulation) {
  return sim::make_simulator(simulation.scenario, simulation.plan);
}

/// The simulator of the same simulation with the pools of another seed.
[[nodiscard]] inline std::unique_ptr<sim::Simulator> simulator_of(Simulation simulation, std::uint64_t seed) {
  simulation.plan.seed = seed;
  return simulator_of(simulation);
}

/// Time of a forward pass in us.
using StepTime = std::function<double(const StepShape&)>;

/// Forward passes of a server that take these times.
class StatedTimes final : public ForwardPassTimes {
 public:
  StatedTimes(StepTime target_us, StepTime drafter_us)
      : target_us_(std::move(target_us)), drafter_us_(std::move(drafter_us)) {}

  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& /*asked*/, std::int64_t /*gamma*/,
                                                 Convention /*convention*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] double target_us(const StepShape& shape, Convention /*convention*/) const override {
    return target_us_(shape);
  }
  void check_memory(const StepShape& /*shape*/) const override {}
  [[nodiscard]] double drafter_us(const StepShape& shape) const override { return drafter_us_(shape); }

 private:
  StepTime target_us_, drafter_us_;
};

/// The cost of a server whose passes take these times.
[[nodiscard]] inline Cost timed(StepTime target_us, StepTime drafter_us = RooflineStep{.weights_us = 7.0}) {
  Measured measured;
  measured.times = std::make_shared<const StatedTimes>(std::move(target_us), std::move(drafter_us));
  return measured;
}

}  // namespace foredraft::tests
