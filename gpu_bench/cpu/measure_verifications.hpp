// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "gpu_bench/cpu/thread_team.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Verifies a test batch. Throws std::runtime_error where the tokens are not those of the reference.
void test_cpu_verifier(ThreadTeam& team);

/// One row a cell, measured side by side: fused_exact in fp32, eager, over logits that lie where the call before left
/// them. `before_sample` may throw to end the measurement. Throws MemoryError.
[[nodiscard]] std::vector<latency::VerificationRow> measure_cpu_verifications(
    const std::vector<latency::VerificationCell>& cells, ThreadTeam& team, const latency::Protocol& protocol,
    const std::function<void()>& before_sample);

}  // namespace foredraft::gpu_bench
