// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_facts.hpp"

/// Tests whether the device computes the reference's results; run before anything is timed.
namespace foredraft::gpu_bench {

struct SelfTestResult {
  std::string name;
  bool passed = false;
  std::string detail;  ///< the number that decided
};

/// Tests tiny shapes of every storage type. Buffers have the reference's contents bit for bit; the output of a pass is
/// within allowed_error of the reference and contains no NaN; a graph replay gives the bits of the eager launches. Then
/// small batches with every verifier: the tokens are the reference's, except a few whose decisions are within rounding;
/// all outputs are written; a graph replay gives the bits of the eager launches, if the host need not wait.
/// `before_each` program or verifier; may throw, which ends the test.
[[nodiscard]] std::vector<SelfTestResult> self_test(
    const DeviceFacts& facts, CublasLt& blas, const std::function<void()>& before_each = [] {});

}  // namespace foredraft::gpu_bench
