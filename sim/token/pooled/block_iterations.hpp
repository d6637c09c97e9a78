// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::sim {

/// Runs `iterations` iterations under block verification (block_verification.hpp), position by position for all
/// iterations. Returns [k]: iterations that accepted exactly k drafts, k = 0..gamma. `emitted` as in
/// TokenSimulator::RunBlock. Requires tables.blocks().
[[nodiscard]] std::vector<std::uint64_t> run_block_iterations(const PooledTables& tables, const RunKey& key,
                                                              std::uint64_t block, const IterationShape& shape,
                                                              std::uint64_t iterations, EmittedTokens* emitted);

}  // namespace foredraft::sim
