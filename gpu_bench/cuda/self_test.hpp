// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_facts.hpp"

/// Whether the device computes what the reference does: run before anything is timed.
namespace foredraft::gpu_bench {

struct SelfTestResult {
  std::string name;
  bool passed = false;
  std::string detail;  ///< the figure that decided
};

/// At tiny shapes and for every storage type: buffers hold the reference's contents bit for bit; the output of a pass
/// lies within allowed_error of the reference and has no poison left; a graph replays the bits of the eager launches.
/// `before_each` program; may throw, which ends the test.
[[nodiscard]] std::vector<SelfTestResult> self_test(
    const DeviceFacts& facts, CublasLt& blas, const std::function<void()>& before_each = [] {});

/// Small batches of every storage type through every verifier: the tokens are the reference's, apart from a few whose
/// decisions lie within rounding; all outputs are written; a graph replays the bits of the eager launches, where the
/// host need not wait. `before_each` verifier; may throw, which ends the test.
[[nodiscard]] std::vector<SelfTestResult> self_test_verifiers(const std::function<void()>& before_each);

}  // namespace foredraft::gpu_bench
