// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_cell.hpp"

#include <fmt/format.h>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

std::string to_text(const LoopCell& cell) {
  return fmt::format("{} from {} ({}) {} gamma {} alpha {} batch {} context {}", cell.target, cell.drafter,
                     to_string(cell.drafting), cell.dtype, cell.gamma, cell.alpha, cell.batch, cell.context);
}

void check_loop_cell(const LoopCell& cell) {
  const bool drafts = cell.drafting == latency::Role::autoregressive_drafting ||
                      cell.drafting == latency::Role::block_drafting || cell.drafting == latency::Role::head_drafting;
  if (!drafts) throw DomainError(fmt::format("{} is no way of drafting", to_string(cell.drafting)));
  check_at_least("gamma", cell.gamma, 1);
  check_probability("alpha", cell.alpha);
  check_at_least("batch", cell.batch, 1);
  check_at_least("context", cell.context, 0);
}

}  // namespace foredraft::gpu_bench
