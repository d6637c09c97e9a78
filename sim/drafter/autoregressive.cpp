// SPDX-License-Identifier: Apache-2.0
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition autoregressive() {
  return {.entry = {.name = "autoregressive",
                    .summary = "a smaller model, token by token: gamma * c",
                    .source = "Leviathan2023, Alg. 1",
                    .cost = Drafting::autoregressive,
                    .parameters = {},
                    .process = true,
                    .token = true,
                    .text = false},
          .apply = [](ProcessSimulation& /*simulation*/, const ResolvedSettings& /*settings*/) {}};
}

}  // namespace foredraft::sim::drafters
