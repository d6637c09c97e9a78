// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/cost/load_equilibrium.hpp"
#include "core/parallel.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::analytic {

/// The closed forms of a server: lengths that do not vary but geometrically, and iterations that all take the same
/// time. Throws Interrupted when stopped.
[[nodiscard]] ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop = {});

// ---- A server at a request rate, in the mean.

/// What a server takes in place of a process whose iterations depend on each other: acceptance by position that emits
/// as many tokens per iteration at every draft length up to `gamma`. Any other process stays as it is. Throws
/// DomainError for one without a closed form.
[[nodiscard]] AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma,
                                                  Convention convention);

/// Of a server of one gamma under Poisson arrivals, in a continuous batch, whose prompts and answers have one length
/// each, answers of 2 tokens at least: iterations of an answer with its cut end, each at the cache of half an answer.
/// Throws DomainError for any other server and for times that are not known.
[[nodiscard]] LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop = {});

}  // namespace foredraft::analytic
