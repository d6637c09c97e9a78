// SPDX-License-Identifier: Apache-2.0
#include "sim/process/cycle_counts.hpp"
#include "sim/process/runs_stepper.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

class RunsSimulator final : public Simulator {
 public:
  RunsSimulator(const Runs& runs, const IterationShape& shape, const BlockPlan& plan)
      : shape_(shape), plan_(plan), law_(runs, shape.gamma) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    RunsStepper stepper(law_, key, block, shape_.gamma);
    RunsState state = stepper.start(0);
    const auto steps = [&](std::uint64_t i, bool /*accepted*/) {
      return stepper.accepted_steps(i, state, shape_.gamma);
    };
    return count_cycles(shape_, plan_.in_block(block), state.after_acceptance, key.stop, steps);
  }

 private:
  IterationShape shape_;
  BlockPlan plan_;
  RunsLaw law_;
};

}  // namespace

std::unique_ptr<Simulator> make_runs_simulator(const Runs& runs, const IterationShape& shape,
                                               std::uint64_t iterations) {
  return std::make_unique<RunsSimulator>(runs, shape, plan_iterations(iterations, shape.gamma + 2));
}

}  // namespace foredraft::sim
