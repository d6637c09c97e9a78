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
/// the exact acceptance of a token simulation whose iterations are i.i.d. (sim::pool_acceptance); NaN if unknown.
/// Throws DomainError for an argument outside its domain, and Interrupted when stopped.
[[nodiscard]] ClosedForm answer(const Scenario& scenario, double pool_acceptance = unknown<double>,
                                StopToken stop = {});

/// The closed forms of a server with outputs of fixed or geometric length, independent iterations and one draft length.
/// Throughput and latencies only if all iterations take the same time.
[[nodiscard]] ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop = {});

// ---- Mean values of a server at a request rate.

/// Acceptance by position with the same tokens per iteration as `acceptance` at every draft length up to `gamma`. A
/// process with independent iterations is returned unchanged. Throws DomainError for a process without a closed form.
[[nodiscard]] AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma,
                                                  Convention convention);

/// The load equilibrium of a server with Poisson arrivals or a closed loop, continuous batching, fixed or lognormal
/// lengths of prompts and outputs, and a mean output of at least 2 tokens. Each iteration is computed at the mean
/// context length of the decoding requests. Times of forward passes are looked up at a few batch and chunk sizes and
/// interpolated. Server::switch_us and switch_margin are ignored. Throws DomainError for any other server and for
/// unknown times.
[[nodiscard]] LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop = {});

}  // namespace foredraft::analytic
