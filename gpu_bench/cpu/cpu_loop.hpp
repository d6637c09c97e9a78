// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "gpu_bench/cpu/host_memory.hpp"
#include "gpu_bench/cpu/thread_team.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::gpu_bench {

/// Calls that make a sample, as calls_per_sample says of one that is tried; `call(i)` makes call number i.
[[nodiscard]] int calls_of_sample(const std::function<void(int)>& call, int rotated);

/// An arm whose sample is the mean of `calls` calls, by the steady clock. `before_sample` may throw to end the
/// measurement. The processor's clock is not known.
[[nodiscard]] Arm cpu_arm(const std::string& name, const std::function<void(int)>& call, int calls,
                          const std::function<void()>& before_sample);

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
