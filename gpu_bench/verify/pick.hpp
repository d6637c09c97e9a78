// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/row_verification.hpp"

namespace foredraft::gpu_bench {

/// The most probable token of some of a row, the lowest of tied ones.
struct Pick {
  static constexpr std::uint32_t nothing = 0xffffffffU;

  float logit = -std::numeric_limits<float>::infinity();
  std::uint32_t token = nothing;  ///< where no logit is finite
  std::uint32_t fault = 0;        ///< 1 where a logit was NaN or +inf

  /// Takes clean logits of neighbouring tokens. Tokens come rising.
  template <unsigned count>
  FOREDRAFT_HOST_DEVICE void take(const float (&logits)[count], unsigned first_token, bool were_faulty) {
    if (were_faulty) fault = 1;
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < count; ++j) {
      if (logits[j] > logit) {
        logit = logits[j];
        token = first_token + j;
      }
    }
  }

  /// Of a whole row. One without anything finite gives token 0 and accepts nothing.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE RowVerdict verdict(bool accepted) const {
    const bool found = token != nothing;
    return {.token = found ? static_cast<std::int32_t>(token) : 0,
            .accepted = found && accepted,
            .fault = !found || fault != 0};
  }
};

FOREDRAFT_HOST_DEVICE inline Pick merged(const Pick& a, const Pick& b) {
  const bool second = b.logit > a.logit || (b.logit == a.logit && b.token < a.token);
  return {second ? b.logit : a.logit, second ? b.token : a.token, a.fault | b.fault};
}

/// The scan of a rule that needs nothing else of a row.
template <unsigned width, class Block, class Storage>
FOREDRAFT_HOST_DEVICE inline Pick scan_pick(Block& block, const TargetRow<Storage>& row, RowSpan span) {
  Pick pick;
  scan_row<width>(block, row.logits, span, [&pick](const float(&logits)[width], unsigned first, bool faulty) {
    pick.take(logits, first, faulty);
  });
  return pick;
}

}  // namespace foredraft::gpu_bench
