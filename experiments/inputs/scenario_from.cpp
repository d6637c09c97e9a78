// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"
#include "core/problems.hpp"
#include "experiments/inputs/inputs.hpp"
#include "scenario/check.hpp"

namespace foredraft {

Scenario Scenario::from(const std::vector<Input>& inputs) {
  ProblemList problems("Scenario::from");
  Scenario scenario = scenario::scenario_of(inputs, problems);
  problems.raise();
  try {
    experiments::Inputs().attach(scenario);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
  return scenario;
}

}  // namespace foredraft
