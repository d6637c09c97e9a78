// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "gpu_bench/kernels/host_block.hpp"
#include "latency/operations/counts.hpp"

/// A verifier is a function template that passes kernels to a launcher, one after another:
///
///     launcher.launch(kernel)               every kernel says what it moves: Work work() const
///     launcher.read_back(address, bytes)    the host waits for this before it goes on, as the published code does
///
/// One launcher runs the kernels on the host, one counts them, one (cuda/) launches them.
namespace foredraft::gpu_bench {

struct HostLauncher {
  HostOrder order = HostOrder::forward;

  template <class Kernel>
  void launch(const Kernel& kernel) {
    run_on_host(kernel, order);
  }
  void read_back(const void* /*address*/, std::size_t /*bytes*/) {}
};

/// Cost of a verification besides its time.
struct VerificationCost {
  latency::Work work;  ///< as requested by the kernels; what is read twice counts twice
  unsigned launches = 0;
  unsigned read_backs = 0;
};

struct CountingLauncher {
  VerificationCost cost;

  template <class Kernel>
  void launch(const Kernel& kernel) {
    cost.work += kernel.work();
    ++cost.launches;
  }
  void read_back(const void* /*address*/, std::size_t /*bytes*/) { ++cost.read_backs; }
};

}  // namespace foredraft::gpu_bench
