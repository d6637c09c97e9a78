// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu_bench/cpu/host_memory.hpp"
#include "gpu_bench/cpu/thread_team.hpp"
#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {

/// Runs a program on the CPU in fp32, over one set of buffers or several in turn. Sets have separate weights and
/// caches; activations and tokens are shared. Pools and team must outlive it.
class CpuRunner {
 public:
  /// Takes a set of weights and caches from each pool, everything else from the first.
  CpuRunner(const latency::Program& program, std::span<HostPool> pools, ThreadTeam& team);

  void run(int set = 0);

  /// Contents of a buffer; token ids as integers.
  [[nodiscard]] std::vector<double> read(latency::BufferId id, int set = 0) const;

  /// Memory of a buffer: floats, or 32-bit token ids.
  [[nodiscard]] void* address(latency::BufferId id, int set = 0) const {
    return addresses_[static_cast<std::size_t>(set)][static_cast<std::size_t>(id)];
  }

  [[nodiscard]] int sets() const { return static_cast<int>(addresses_.size()); }

 private:
  latency::Program program_;
  ThreadTeam* team_;
  std::vector<std::vector<void*>> addresses_;  ///< of a set's buffers, by BufferId
  std::vector<std::vector<float>> scratch_;    ///< of each thread: scores of attention
};

}  // namespace foredraft::gpu_bench
