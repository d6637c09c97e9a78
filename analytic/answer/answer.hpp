// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/cost/load_equilibrium.hpp"
#include "core/parallel.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/words.hpp"

namespace foredraft::analytic {

/// The closed forms of a scenario; NaN for a quantity without one, infinity for an unbounded one. `pool_acceptance`:
/// the exact acceptance of a token simulation whose iterations are i.i.d. (sim::pool_acceptance); NaN if it is not
/// known. Throws DomainError for an argument outside its domain, and Interrupted when stopped.
[[nodiscard]] ClosedForm answer(const Scenario& scenario, double pool_acceptance = unknown<double>,
                                StopToken stop = {});

/// The closed forms of a server, for fixed or geometric lengths and iterations that all take the same time.
[[nodiscard]] ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop = {});

// ---- Mean values of a server at a request rate.

/// Acceptance by position with as many tokens per iteration as `acceptance` at every draft length up to `gamma`; a
/// process without memory is returned unchanged. Throws DomainError for a process without a closed form.
[[nodiscard]] AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma,
                                                  Convention convention);

/// The load equilibrium of a server with Poisson arrivals or a closed loop, continuous batching, prompts and outputs of
/// one length or lognormal ones, outputs of at least 2 tokens in the mean; each iteration at the mean context length of
/// those that decode. Forward passes are looked up at few batches and chunks and interpolated. Server::switch_us and
/// the margin are left out. Throws DomainError for any other server and for times that are not known.
[[nodiscard]] LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop = {});

}  // namespace foredraft::analytic
