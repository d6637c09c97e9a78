// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gpu_bench/cpu/thread_team.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Facts about the processor of this machine. 0 or absent: the system does not report it.
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

/// Memory available for new buffers; 0 if the system does not report it.
[[nodiscard]] std::int64_t available_memory_bytes();

/// Whether more than half of the memory is free, so that buffers that may be needed again can be kept. Reads /proc
/// below `root`.
[[nodiscard]] bool memory_is_plenty(const std::string& root = "");

/// The facts in the form of a profile, each with its origin. The number of measuring `threads` is part of the name
/// because it is part of the device.
[[nodiscard]] latency::Device profile_device(const CpuFacts& facts, unsigned threads);

/// Fills profile.limits and the rows of copies, reads, writes and a square product in profile.kernels, using all
/// threads of the team. Of the launch costs, stream_launch_us is handing work to waiting threads, grid_sync_us a
/// barrier over all, event_pair_us two readings of the clock; the others do not exist on a CPU. `protocol` applies to
/// each arm separately; `before_sample` may throw.
void measure_cpu_limits(latency::Profile& profile, const CpuFacts& facts, ThreadTeam& team,
                        const latency::Protocol& protocol, const std::function<void()>& before_sample);

/// Number of arms that measure_cpu_limits times one after another, so that a caller can divide its time among them:
/// three costs, three moves of three sizes, and a product.
inline constexpr int cpu_limit_arms = 13;

}  // namespace foredraft::gpu_bench
