// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/pick.hpp"
#include "gpu_bench/verify/tree_path.hpp"

/// `tree_greedy`: from the root to the child that holds the target's most probable token, while there is one; then emit
/// that token. On a tree that is a chain this is greedy_match.
///
/// One launch (row_verification.hpp). Reads the target's rows once and no draft logits; writes the outputs, 12 bytes
/// for each share of a row and 8 for each row. Floor: (nodes + 1) V s bytes a request.
namespace foredraft::gpu_bench {

struct TreeGreedyRule {
  using Part = Pick;

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE Pick scan(Block& block, const TargetRow<Storage>& row, RowSpan span) const {
    return scan_pick<width>(block, row, span);
  }

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& /*block*/, const TargetRow<Storage>& /*row*/, const Pick& pick,
                                          std::byte* /*scratch*/) const {
    return pick.verdict(true);
  }

  [[nodiscard]] static unsigned scratch_bytes() { return 0; }
  [[nodiscard]] static latency::Work row_work(unsigned /*vocabulary*/, unsigned /*splits*/, unsigned /*logit_bytes*/) {
    return {};
  }
};

[[nodiscard]] inline WorkspaceSize tree_greedy_workspace(std::int64_t batch, std::int64_t nodes,
                                                         std::int64_t vocabulary) {
  return row_workspace<Pick>(batch, nodes + 1, vocabulary);
}

template <class Storage, class Launcher>
void tree_greedy(const TreeVerificationInput<Storage>& input, const VerificationOutput& output,
                 const Workspace& workspace, Launcher& launcher) {
  verify_rows(TreeGreedyRule{}, TreePath<Storage>{input}, output, workspace, launcher);
}

}  // namespace foredraft::gpu_bench
