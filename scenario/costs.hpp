// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "foredraft/cost.hpp"
#include "scenario/family.hpp"

/// The registry of costs of forward passes.
namespace foredraft::scenario {

[[nodiscard]] const std::vector<Member<Cost>>& costs();

/// The name in the registry.
[[nodiscard]] std::string_view name_of(const Cost& cost);

}  // namespace foredraft::scenario
