// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/highway.h>
#include <catch2/catch.hpp>

#include "gpu_bench/cpu/vector_kernels.hpp"

namespace foredraft::gpu_bench::tests {

/// Calls check() with the kernels of each instruction set that this machine has.
template <class Check>
void on_every_instruction_set(const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    INFO(vector_instruction_set());
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace foredraft::gpu_bench::tests
