// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/multinomial.hpp"

namespace foredraft::gpu_bench::published {

/// The accepted drafts, the drawn token and what pads them, as the library concatenates them; and whether anything
/// was wrong with the request.
template <class Storage>
struct EmitKernel {
  static constexpr unsigned max_threads = 128;

  VerificationInput<Storage> input;
  VerificationOutput output;
  DrawnRows<Storage> rows;
  const std::int32_t* drawn;               ///< [batch]
  const std::uint32_t* target_row_faults;  ///< [batch, gamma + 1]
  const std::uint32_t* draft_row_faults;   ///< [batch, gamma]; or null: the target's rows stand for both
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return {.blocks = input.batch, .threads = threads, .shared_bytes = 0}; }
  [[nodiscard]] latency::Work work() const {
    return {.read_bytes = static_cast<double>(input.batch) * (input.gamma + 1) * sizeof(std::int32_t),
            .written_bytes = static_cast<double>(input.batch) * (input.gamma + 3) * sizeof(std::int32_t),
            .flop = 0.0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned request = block.block();
    const unsigned matches = rows.matches[request];
    for (unsigned i = block.thread(); i <= input.gamma; i += block.threads()) {
      output.tokens[row_of(request, input.gamma + 1, i)] =
          i < matches ? input.drafts[row_of(request, input.gamma, i)] : (i == matches ? drawn[request] : no_token);
    }
    if (block.thread() != 0) return;
    std::uint32_t fault = rows.raises(request) ? 1 : 0;
    for (unsigned i = 0; i <= input.gamma; ++i) fault |= target_row_faults[row_of(request, input.gamma + 1, i)];
    for (unsigned i = 0; draft_row_faults != nullptr && i < input.gamma; ++i) {
      fault |= draft_row_faults[row_of(request, input.gamma, i)];
    }
    output.emitted_counts[request] = static_cast<std::int32_t>(matches) + 1;
    output.faults[request] = fault;
  }
};

}  // namespace foredraft::gpu_bench::published
