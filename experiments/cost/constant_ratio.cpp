// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "experiments/cost/cost_definition.hpp"

namespace foredraft::experiments::costs {

CostEntry constant_ratio() {
  return {.name = "constant_ratio",
          .summary = "a pass of the drafter takes c target steps, a verification one, whatever gamma",
          .source = "Leviathan2023, Thm. 3.8",
          .parameters = {{.name = "c",
                          .default_value = std::nullopt,
                          .optional = true,
                          .minimum = 0.0,
                          .maximum = std::numeric_limits<double>::max(),
                          .once_a_sequence = false,
                          .summary = "draft/target time of one step; without it no speedup"}},
          .cost = [](const CostValues& values) { return foredraft::constant_ratio(values.at("c")); }};
}

}  // namespace foredraft::experiments::costs
