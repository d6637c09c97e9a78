// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/cpu/thread_team.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Fills profile.limits and the rows of copies, reads, writes and a square product in profile.kernels, all threads of
/// the team at work. Of the launch costs: stream_launch_us is work handed to threads that wait, grid_sync_us a barrier
/// over all, event_pair_us two readings of the clock; the others do not exist on a CPU. `protocol` holds for each arm
/// alone; `before_sample` may throw.
void measure_cpu_limits(latency::Profile& profile, const CpuFacts& facts, ThreadTeam& team,
                        const latency::Protocol& protocol, const std::function<void()>& before_sample);

/// Arms that measure_cpu_limits times one after another, so that a caller can share its time among them.
[[nodiscard]] int cpu_limit_arms(const CpuFacts& facts);

}  // namespace foredraft::gpu_bench
