// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/policy.hpp"
#include "scenario/family.hpp"

/// The registry of draft-length policies.
namespace foredraft::scenario {

struct PolicyMember : Member<Policy> {
  bool (*fits)(const AcceptanceProcess& process);  ///< true if the policy works with this alternative
  std::string_view alias = {};                     ///< another name
  bool learns = false;                             ///< learns from a sequence; requires finite sequences
};
[[nodiscard]] const std::vector<PolicyMember>& policies();

/// The name in the registry.
[[nodiscard]] std::string_view name_of(const Policy& policy);

/// The concentration s of Beta(alpha s, (1 - alpha) s) if the policy draws an acceptance probability for each token.
[[nodiscard]] std::optional<double> token_concentration(const Policy& policy);

}  // namespace foredraft::scenario
