#pragma once

#include "experiments/cost/cost_registry.hpp"

/// Every cost model: a function in a file of its own.
namespace foredraft::experiments::costs {

[[nodiscard]] CostEntry constant_ratio();
[[nodiscard]] CostEntry block();

}  // namespace foredraft::experiments::costs
