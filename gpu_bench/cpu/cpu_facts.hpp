// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gpu_bench/cpu/thread_team.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// What this machine's processor is. 0 and absent: the system does not say.
struct CpuFacts {
  std::string name;
  std::int64_t threads = 0;  ///< hardware threads that this program may use
  std::int64_t memory_bytes = 0;
  std::int64_t l1_bytes = 0;  ///< data
  std::int64_t l2_bytes = 0;
  std::int64_t last_cache_bytes = 0;  ///< the largest
  std::optional<double> base_clock_mhz = {};
  std::optional<double> max_clock_mhz = {};
};

/// Reads /proc and /sys below `root`.
[[nodiscard]] CpuFacts cpu_facts(const std::string& root = "");

/// Memory that new buffers may take; 0 where the system does not say.
[[nodiscard]] std::int64_t available_memory_bytes();

/// More than half of the memory is free: buffers that may be needed again can stay. Reads /proc below `root`.
[[nodiscard]] bool memory_is_plenty(const std::string& root = "");

/// The facts as a profile holds them, each with its origin; `threads` that measure are part of the name, for they are
/// part of the device.
[[nodiscard]] latency::Device profile_device(const CpuFacts& facts, unsigned threads);

/// Fills profile.limits and the rows of copies, reads, writes and a square product in profile.kernels, all threads of
/// the team at work. Of the launch costs: stream_launch_us is work handed to threads that wait, grid_sync_us a barrier
/// over all, event_pair_us two readings of the clock; the others do not exist on a CPU. `protocol` holds for each arm
/// alone; `before_sample` may throw.
void measure_cpu_limits(latency::Profile& profile, const CpuFacts& facts, ThreadTeam& team,
                        const latency::Protocol& protocol, const std::function<void()>& before_sample);

/// Arms that measure_cpu_limits times one after another, so that a caller can share its time among them.
[[nodiscard]] int cpu_limit_arms(const CpuFacts& facts);

}  // namespace foredraft::gpu_bench
