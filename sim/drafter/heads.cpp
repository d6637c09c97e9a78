// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/check.hpp"
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition heads() {
  return {
      .entry = {.name = "heads",
                .summary = "heads on the target, one for each position and each blind to the others' tokens: c "
                           "whatever gamma; skip-grams of the text, or drafter.accuracies, or the first (alpha) and "
                           "drafter.decay",
                .source = "Stern2018; Cai2024",
                .cost = Drafting::block,
                .parameters = {decay_parameter},
                .process = true,
                .token = true,
                .text = true},
      .apply = [](ProcessSimulation& simulation, const ResolvedSettings& settings) {
        if (settings.accuracies.empty()) {
          let_acceptance_decay(simulation, settings["decay"], "heads");
          return;
        }
        static_cast<void>(first_acceptance(simulation, "heads"));
        if (settings["decay"] != 1.0) {
          throw DomainError(
              fmt::format("invalid drafter.decay={} (must be 1 beside drafter.accuracies)", settings["decay"]));
        }
        simulation.process = Positional{settings.accuracies};
      }};
}

}  // namespace foredraft::sim::drafters
