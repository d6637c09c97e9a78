// SPDX-License-Identifier: Apache-2.0
#include "sim/simulator.hpp"

#include <mutex>

#include "core/parallel.hpp"

namespace foredraft::sim {

Tally run(const Simulator& simulator, const RunKey& key, unsigned threads) {
  Tally total;
  std::mutex total_mutex;
  parallel_for(simulator.blocks(), threads, [&](std::uint64_t block) {
    const Tally part = simulator.run_block(key, block);
    const std::lock_guard lock(total_mutex);  // integers: the order of merging cannot change the result
    total.merge(part);
  });
  check_conservation(total);
  return total;
}

}  // namespace foredraft::sim
