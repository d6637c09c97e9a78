// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/server.hpp"
#include "foredraft/value.hpp"
#include "foredraft/words.hpp"

namespace foredraft::scenario {

[[nodiscard]] std::vector<GammaRange> gamma_ranges(const Schedule& schedule);

/// gamma at [batch], for batches 1 to max_batch; [0] is that of batch 1. Throws DomainError unless the ranges start at
/// 1, follow each other without gap or overlap, reach max_batch, and hold legal gammas of at most max_serving_gamma.
[[nodiscard]] std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                                       Convention convention);

/// The schedule of a server; without one, the same gamma for every batch.
[[nodiscard]] std::vector<GammaRange> gamma_of_batches(const Server& server, std::int64_t gamma);

/// True if the server simulator supports this process: all but Markov, which is Runs with spread 0 and rho 1.
[[nodiscard]] bool serves(const AcceptanceProcess& acceptance);

/// True if the process works with this batching: lockstep discards accepted drafts, of which Runs say nothing.
[[nodiscard]] bool goes_with(const AcceptanceProcess& acceptance, Batching batching);

}  // namespace foredraft::scenario
