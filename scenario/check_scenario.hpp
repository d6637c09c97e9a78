// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/scenario.hpp"

/// What a scenario that somebody wrote in C++ must hold; one from a configuration holds it.
namespace foredraft::scenario {

/// Throws DomainError for a value outside its range and for parts that do not go together: a drafter, policy or cost
/// that another part has no use for, a vector shorter than gamma. Does not look at what was read from files.
void check_scenario(const Scenario& scenario);

/// Throws DomainError for a number outside its range and for a vector shorter than `gamma`.
void check_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma);

/// Throws DomainError where a recording, a trained model or times of passes are named and were not read.
void check_read(const Scenario& scenario);

}  // namespace foredraft::scenario
