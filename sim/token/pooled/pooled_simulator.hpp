// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/draft_tree.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::sim {

/// Iterations over pooled contexts: every position of every iteration meets a context of the pool, each with the same
/// probability and independently of everything else. So acceptances are independent with the pool's mean acceptance,
/// and under a lossless rule the emitted pairs (context, token) are independent with law p_context(token) / contexts.
[[nodiscard]] std::unique_ptr<TokenSimulator> make_pooled_simulator(PooledTables tables, const IterationShape& shape,
                                                                    std::uint64_t iterations);

}  // namespace foredraft::sim
