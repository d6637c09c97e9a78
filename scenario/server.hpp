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

/// [batch]: gamma of batch sizes 1 to max_batch; [0] is the same as [1]. Throws DomainError unless the ranges start at
/// 1, have no gap or overlap, reach max_batch, end at 2^32 or below, and have valid gammas of at most
/// max_serving_gamma.
[[nodiscard]] std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                                       Convention convention);

/// The schedule of a server; without one, the same gamma for every batch.
[[nodiscard]] std::vector<GammaRange> gamma_of_batches(const Server& server, std::int64_t gamma);

/// True if the server simulator supports this process: all except Markov, for which Runs with spread 0 and rho 1 can be
/// used.
[[nodiscard]] bool serves(const AcceptanceProcess& acceptance);

/// True if the process supports this batching. Runs do not support lockstep, which discards accepted drafts.
[[nodiscard]] bool goes_with(const AcceptanceProcess& acceptance, Batching batching);

}  // namespace foredraft::scenario
