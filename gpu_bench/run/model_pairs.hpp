// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/operations/program.hpp"
#include "latency/surfaces/pass_work.hpp"

/// Which model drafts for which, and the pass that a cell of the plan stands for.
namespace foredraft::gpu_bench {

/// The pairs that are measured unless others are asked for, the most used in papers first.
[[nodiscard]] std::vector<PlannedPair> usual_pairs(const std::vector<latency::ModelShape>& models);

/// Those that a CPU is measured with: small, and of both ways of drafting.
[[nodiscard]] std::vector<PlannedPair> usual_cpu_pairs(const std::vector<latency::ModelShape>& models);

/// The first of `names` as target of each other one; a single one with itself. A pair that is measured as block
/// drafting by default is here as well, all others draft token by token. Throws DomainError for unknown names
/// and for models whose passes cannot be run.
[[nodiscard]] std::vector<PlannedPair> pairs_of(const std::vector<latency::ModelShape>& models,
                                                const std::vector<std::string>& names);

/// Throws DomainError where the model is unknown or has no such pass.
[[nodiscard]] latency::Program program_of(const std::vector<latency::ModelShape>& models, const latency::Cell& cell);

}  // namespace foredraft::gpu_bench
