// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition mlp_speculator() {
  return {
      .entry = {.name = "mlp_speculator",
                .summary = "small stages one after another, each fed the token before (of text: skip-grams that see "
                           "it): gamma * c of a stage",
                .source = "Wertheimer2024",
                .cost = Drafting::autoregressive,
                .parameters = {decay_parameter,
                               {.name = "recovery",
                                .default_value = 0.5,
                                .minimum = 0.0,
                                .maximum = 1.0,
                                .whole = false,
                                .summary = "share of the decay that the token before gives back, on a logarithmic "
                                           "scale: decay^(1 - recovery)"}},
                .process = true,
                .token = true,
                .text = true},
      .apply = [](ProcessSimulation& simulation, const ResolvedSettings& settings) {
        let_acceptance_decay(simulation, std::pow(settings["decay"], 1.0 - settings["recovery"]), "mlp_speculator");
      }};
}

}  // namespace foredraft::sim::drafters
