// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "gpu_bench/cuda/self_test.hpp"

namespace foredraft::gpu_bench {

/// Small batches of every storage type through every verifier: the tokens are the reference's, apart from a few whose
/// decisions lie within rounding; all outputs are written; a graph replays the bits of the eager launches, where the
/// host need not wait. `before_each` verifier; may throw, which ends the test.
[[nodiscard]] std::vector<SelfTestResult> self_test_verifiers(const std::function<void()>& before_each);

}  // namespace foredraft::gpu_bench
