// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/profile/measurement.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::tests {

/// Invented times of the tiny pair over the grid that calibrate measures: each further token adds a tenth.
inline latency::Profile tiny_profile(const std::vector<std::int64_t>& batches,
                                     const std::vector<std::int64_t>& contexts) {
  latency::Profile profile;
  profile.device.name = "made up";
  const auto pairs = gpu_bench::pairs_of(latency::model_registry(), {"tiny-target", "tiny-drafter"});
  for (const gpu_bench::CellGroup& group :
       gpu_bench::plan_grid(pairs, {.dtypes = {"fp32"}, .batches = batches, .contexts = contexts})) {
    for (const latency::Cell& cell : group.cells) {
      const double us =
          (cell.model == "tiny-target" ? 1000.0 : 100.0) * (1.0 + 0.1 * static_cast<double>(cell.tokens * cell.batch)) +
          0.1 * static_cast<double>(cell.context);
      profile.steps.push_back({.cell = cell, .timing = {.summary = latency::one_sample(us)}});
    }
  }
  return profile;
}

}  // namespace foredraft::tests
