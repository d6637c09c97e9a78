// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/cost/load_equilibrium.hpp"
#include "core/parallel.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::analytic {

/// The closed forms of a server, for fixed or geometric lengths and iterations that all take the same time. Throws
/// Interrupted when stopped.
[[nodiscard]] ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop = {});

// ---- Mean values of a server at a request rate.

/// The acceptance by position that a server uses for a process whose iterations depend on each other: it emits as many
/// tokens per iteration at every draft length up to `gamma`. Any other process is returned unchanged. Throws
/// DomainError for a process without a closed form.
[[nodiscard]] AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma,
                                                  Convention convention);

/// The load equilibrium of a server with one gamma, Poisson arrivals and continuous batching, whose prompts have one
/// length and whose outputs have one length of at least 2 tokens. Counts the iterations of an output with its cut end,
/// each at the context length in the middle of the output. Throws DomainError for any other server and for times that
/// are not known.
[[nodiscard]] LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop = {});

}  // namespace foredraft::analytic
