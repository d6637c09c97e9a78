// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/draft_tree.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::sim {

/// Iterations over pooled contexts: every position of every iteration draws a context of the pool, uniformly and
/// independently of everything else. Acceptances are therefore independent with the pool's mean acceptance, and under a
/// lossless rule the emitted pairs (context, token) are independent with distribution p_context(token) / contexts.
[[nodiscard]] std::unique_ptr<TokenSimulator> make_pooled_simulator(PooledTables tables, const IterationShape& shape,
                                                                    std::uint64_t iterations);

}  // namespace foredraft::sim
