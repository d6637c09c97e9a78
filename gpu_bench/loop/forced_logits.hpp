// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu_bench/kernels/storage.hpp"

namespace foredraft::gpu_bench {

/// What becomes of a row of the target's logits before an iteration is verified (loop_run.hpp says why).
enum class ForcedRow {
  copy,                ///< of the drafter's row: the draft is accepted
  copy_without_draft,  ///< the same with -inf at the draft: it is rejected
  own                  ///< left as the target computed it
};

/// Of the row of draft `position` (0 to gamma) in a request that is to accept `accepted` of its gamma drafts.
[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr ForcedRow forced_row(std::int64_t position, std::int64_t accepted,
                                                                   std::int64_t gamma) {
  if (position < accepted) return ForcedRow::copy;
  return position == accepted && position < gamma ? ForcedRow::copy_without_draft : ForcedRow::own;
}

}  // namespace foredraft::gpu_bench
