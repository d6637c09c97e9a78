// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/chain_path.hpp"
#include "gpu_bench/verify/pick.hpp"

/// `greedy_match`: accept drafts while they are the target's most probable token, then emit that token [Stern2018].
///
/// One launch (row_verification.hpp). Reads the target's rows once and no draft logits; writes the outputs, 12 bytes
/// for each share of a row and 8 for each row. Floor: (gamma + 1) V s bytes a request.
namespace foredraft::gpu_bench {

struct GreedyMatchRule {
  using Part = Pick;

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE Pick scan(Block& block, const TargetRow<Storage>& row, RowSpan span) const {
    return scan_pick<width>(block, row, span);
  }

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& /*block*/, const TargetRow<Storage>& row, const Pick& pick,
                                          std::byte* /*scratch*/) const {
    return pick.verdict(pick.token == static_cast<std::uint32_t>(row.draft) && row.draft != no_token);
  }

  [[nodiscard]] static unsigned scratch_bytes() { return 0; }
  [[nodiscard]] static latency::Work row_work(unsigned /*vocabulary*/, unsigned /*splits*/, unsigned /*logit_bytes*/) {
    return {};
  }
};

[[nodiscard]] inline WorkspaceSize greedy_match_workspace(const VerificationShape& shape) {
  return row_workspace<Pick>(shape.batch, shape.gamma + 1, shape.vocabulary);
}

template <class Storage, class Launcher>
void greedy_match(const VerificationInput<Storage>& input, const VerificationOutput& output, const Workspace& workspace,
                  Launcher& launcher) {
  verify_rows(GreedyMatchRule{}, ChainPath<Storage>{input}, output, workspace, launcher);
}

}  // namespace foredraft::gpu_bench
