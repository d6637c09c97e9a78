// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/cost/cost_registry.hpp"

/// Every cost model: a function in a file of its own.
namespace foredraft::experiments::costs {

[[nodiscard]] CostEntry constant_ratio();
[[nodiscard]] CostEntry block();
[[nodiscard]] CostEntry roofline();
[[nodiscard]] CostEntry measured();

/// "cost.overhead_ms", which several models take.
[[nodiscard]] CostParameter iteration_overhead();

}  // namespace foredraft::experiments::costs
