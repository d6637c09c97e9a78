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

/// Calls per sample, chosen by calls_per_sample from a trial; `call(i)` makes call number i.
[[nodiscard]] int calls_of_sample(const std::function<void(int)>& call, int rotated);

/// An arm whose sample is the mean of `calls` calls, by the steady clock. `before_sample` may throw to end the
/// measurement. The processor's clock frequency is not known.
[[nodiscard]] Arm cpu_arm(const std::string& name, const std::function<void(int)>& call, int calls,
                          const std::function<void()>& before_sample);

/// Decoding loops on this CPU, in fp32: forward passes by CpuRunner, sampling and verification by CpuVerifier. Weights
/// are in memory once, as in an engine, and stay there if the next loop uses the model or memory is plentiful.
class CpuLoop {
 public:
  /// `models`: those that cells name. `before_step` may throw Interrupted. The three arguments must outlive all sides.
  CpuLoop(const std::vector<latency::ModelShape>& models, unsigned threads, std::function<void()> before_step);

  /// The device side for run_loop(). Throws DomainError for a cell of another dtype, an unknown model, a pass that a
  /// model does not have and a pair with different vocabularies; MemoryError if memory does not suffice.
  [[nodiscard]] LoopSide side_of(const LoopCell& cell);

 private:
  [[nodiscard]] HostPool& pool_of(const std::string& model);

  const std::vector<latency::ModelShape>& models_;
  ThreadTeam team_;
  std::function<void()> before_step_;
  std::map<std::string, HostPool> pools_;  ///< by model
};

}  // namespace foredraft::gpu_bench
