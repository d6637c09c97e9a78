// SPDX-License-Identifier: Apache-2.0
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition input_copy() {
  return {.entry = {.name = "input_copy",
                    .summary = "the draft is the rest of the input; edits need one-by-one steps to realign: free",
                    .source = "Sun2021; Xia2023, App. G.2",
                    .cost = Drafting::free,
                    .parameters = {{.name = "edit_rate",
                                    .default_value = std::nullopt,
                                    .minimum = 0.0,
                                    .maximum = 1.0,
                                    .whole = false,
                                    .summary = "input_copy: probability that the next token is not the input's"},
                                   {.name = "realign",
                                    .default_value = std::nullopt,
                                    .minimum = 0.0,
                                    .maximum = 1e6,
                                    .whole = true,
                                    .summary = "input_copy: tokens written one by one behind each edit"}},
                    .process = true,
                    .token = false,
                    .text = false},
          .apply = [](ProcessSimulation& simulation, const ResolvedSettings& settings) {
            static_cast<void>(first_acceptance(simulation, "input_copy"));
            simulation.process = Iid{1.0 - settings["edit_rate"]};
            simulation.policy = RealignAfterEdit{static_cast<std::int64_t>(settings["realign"])};
          }};
}

}  // namespace foredraft::sim::drafters
