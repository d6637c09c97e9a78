// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "gpu_bench/cpu/host_memory.hpp"
#include "gpu_bench/cpu/thread_team.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::gpu_bench {

/// Decoding loops on this CPU, in fp32: passes by CpuRunner, draws and verification by CpuVerifier. Weights lie in
/// memory once, as in an engine, and stay there as long as the next loop uses the model or memory is plenty.
class CpuLoop {
 public:
  /// `models`: those that cells name. `before_step` may throw Interrupted. Sides outlive none of the three.
  CpuLoop(const std::vector<latency::ModelShape>& models, unsigned threads, std::function<void()> before_step);

  /// What run_loop() asks for. Throws DomainError for a cell of another dtype, an unknown model, a pass that a model
  /// does not have and a pair of different vocabularies; MemoryError where memory does not suffice.
  [[nodiscard]] LoopSide side_of(const LoopCell& cell);

 private:
  [[nodiscard]] HostPool& pool_of(const std::string& model);

  const std::vector<latency::ModelShape>& models_;
  ThreadTeam team_;
  std::function<void()> before_step_;
  std::map<std::string, HostPool> pools_;  ///< by model
};

}  // namespace foredraft::gpu_bench
