// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "sim/drafter/drafter_registry.hpp"

/// What the file of a drafter says of it.
namespace foredraft::sim {

/// A drafter's parameters, resolved and checked.
struct ResolvedSettings {
  std::map<std::string_view, double> parameters;
  std::vector<double> accuracies;

  [[nodiscard]] double operator[](std::string_view name) const { return parameters.at(name); }
};

struct DrafterDefinition {
  DrafterEntry entry;
  /// Puts the acceptance of this drafter into a process simulation; null for drafters of token fidelity alone.
  void (*apply)(ProcessSimulation& simulation, const ResolvedSettings& settings);
};

/// Requires an Iid process, the acceptance of whose first draft it returns.
[[nodiscard]] double first_acceptance(const ProcessSimulation& simulation, std::string_view drafter);

/// Replaces an Iid process by one whose acceptance falls by `factor` from each position to the next; leaves any process
/// as it is for a factor of 1.
void let_acceptance_decay(ProcessSimulation& simulation, double factor, std::string_view drafter);

/// The parameter of every drafter whose drafts get worse with their position.
inline constexpr DrafterParameter decay_parameter{
    .name = "decay",
    .default_value = 1.0,
    .minimum = 0.0,
    .maximum = 1.0,
    .whole = false,
    .summary = "acceptance of a draft over that of the one before it, all before accepted"};

}  // namespace foredraft::sim
