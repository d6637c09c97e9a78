// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/decoding_cost.hpp"
#include "foredraft/scenario.hpp"

/// What a scenario says of itself.
namespace foredraft::scenario {

/// Null for costs that are given, not looked up.
[[nodiscard]] const LookedUpTimes* looked_up(const Cost& cost);

/// What decoding costs at the scenario's gamma; nothing without c, where it does not fit into memory, and of a server,
/// whose batches vary. Throws DomainError for a time that is not known and std::logic_error for times that were never
/// read.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(const Scenario& scenario);

/// Target steps that each verified token but the first adds to a verification; 0 for costs that are looked up.
[[nodiscard]] double verify_growth(const Cost& cost);

/// Whether drafts differ in length from one iteration to the next, other than by the batch.
[[nodiscard]] bool gamma_varies(const Scenario& scenario);

}  // namespace foredraft::scenario
