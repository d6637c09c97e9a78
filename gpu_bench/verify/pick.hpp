#pragma once

#include "gpu_bench/verify/online_softmax.hpp"
#include "gpu_bench/verify/row_verification.hpp"

namespace foredraft::gpu_bench {

/// The most probable token of some of a row, the lowest of tied ones.
struct Pick {
  static constexpr std::uint32_t nothing = 0xffffffffU;

  float logit = -std::numeric_limits<float>::infinity();
  std::uint32_t token = nothing;  ///< where no logit is finite
  std::uint32_t fault = 0;        ///< 1 where a logit was NaN or +inf

  /// Takes a logit as it is stored. Tokens come rising.
  FOREDRAFT_HOST_DEVICE void take(float stored, unsigned candidate) {
    const float clean = clean_logit(stored);
    if (is_faulty(stored)) fault = 1;
    if (clean > logit) {
      logit = clean;
      token = candidate;
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
  scan_row<width>(block, row.logits, span, [&pick](const float(&logits)[width], unsigned first) {
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < width; ++j) pick.take(logits[j], first + j);
  });
  return pick;
}

}  // namespace foredraft::gpu_bench
