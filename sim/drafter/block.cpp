// SPDX-License-Identifier: Apache-2.0
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition block() {
  return {.entry = {.name = "block",
                    .summary = "one parallel pass drafts the whole block: c whatever gamma",
                    .source = "Xia2023, Sec. 3.1",
                    .cost = Drafting::block,
                    .parameters = {decay_parameter},
                    .process = true,
                    .token = true,
                    .text = false},
          .apply = [](ProcessSimulation& simulation, const ResolvedSettings& settings) {
            let_acceptance_decay(simulation, settings["decay"], "block");
          }};
}

}  // namespace foredraft::sim::drafters
