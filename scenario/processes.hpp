// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "scenario/family.hpp"

/// The registry of acceptance processes.
namespace foredraft::scenario {

[[nodiscard]] const std::vector<Member<AcceptanceProcess>>& processes();

/// The name in the registry.
[[nodiscard]] std::string_view name_of(const AcceptanceProcess& process);

/// A BetaMixture or Markov process changed to this mean acceptance or to this correlation of two successive drafts'
/// acceptance. Other processes are unchanged. The resulting parameters may lie outside their ranges.
[[nodiscard]] AcceptanceProcess with_moments(const AcceptanceProcess& process, std::optional<double> mean,
                                             std::optional<double> correlation);

/// The process of a scenario in process or system fidelity; null in token fidelity.
[[nodiscard]] auto* acceptance_of(auto& scenario) {
  if (auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity)) return &process->acceptance;
  auto* server = std::get_if<Server>(&scenario.fidelity);
  return server == nullptr ? nullptr : &server->acceptance;
}

}  // namespace foredraft::scenario
