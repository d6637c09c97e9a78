// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/row_verification.hpp"

namespace foredraft::gpu_bench {

/// Drafts in a chain. The walk ends at the first row that does not accept its draft. The row after the last draft has
/// no draft to accept, nor does one whose draft is outside the vocabulary.
template <class StorageType>
struct ChainPath {
  using Storage = StorageType;

  VerificationInput<Storage> input;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned batch() const { return input.batch; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return input.gamma + 1; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned vocabulary() const { return input.vocabulary; }

  /// Rows after a draft outside the vocabulary are read unnecessarily: looking for one first would delay all others.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows_read(unsigned request) const {
    return static_cast<unsigned>(input.draft_counts[request]) + 1;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE TargetRow<Storage> row(unsigned request, unsigned position) const {
    const unsigned index = request * rows() + position;
    return {.logits = input.target_logits + static_cast<std::int64_t>(index) * input.vocabulary,
            .draft = draft(request, position),
            .request = request,
            .position = position,
            .index = index};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void walk(Block& block, unsigned request, const RowVerdict* verdicts,
                                  const VerificationOutput& output, std::byte* scratch) const {
    Firsts firsts;
    for (unsigned i = block.thread(); i < rows_read(request); i += block.threads()) {
      firsts = merged(firsts, {.rejecting = verdicts[i].accepted ? none : i,
                               .without_draft = draft(request, i) != no_token ? none : i,
                               .faulty = verdicts[i].fault ? i : none});
    }
    firsts = block_merged(block, firsts, reinterpret_cast<Firsts*>(scratch));
    std::int32_t* tokens = output.tokens + request * rows();
    for (unsigned i = block.thread(); i < rows(); i += block.threads()) {
      tokens[i] = i < firsts.rejecting ? draft(request, i) : i == firsts.rejecting ? verdicts[i].token : no_token;
    }
    if (block.thread() == 0) {
      output.emitted_counts[request] = static_cast<std::int32_t>(firsts.rejecting + 1);
      output.faults[request] = firsts.faulty <= firsts.without_draft ? 1U : 0U;
    }
  }

  [[nodiscard]] static unsigned scratch_bytes(unsigned threads) {
    return threads / warp_lanes * static_cast<unsigned>(sizeof(Firsts));
  }

  [[nodiscard]] latency::Work work() const {
    const double drafts = static_cast<double>(input.batch) * input.gamma;
    const double counts = input.batch;
    return {.read_bytes = 4 * (2 * drafts + counts), .written_bytes = 4 * (drafts + 3 * counts), .flop = 0.0};
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;

  /// Names of the first rows of a request.
  struct Firsts {
    std::uint32_t rejecting = none;
    std::uint32_t without_draft = none;
    std::uint32_t faulty = none;

    FOREDRAFT_HOST_DEVICE friend Firsts merged(const Firsts& a, const Firsts& b) {
      return {.rejecting = a.rejecting < b.rejecting ? a.rejecting : b.rejecting,
              .without_draft = a.without_draft < b.without_draft ? a.without_draft : b.without_draft,
              .faulty = a.faulty < b.faulty ? a.faulty : b.faulty};
    }
  };

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int32_t draft(unsigned request, unsigned position) const {
    if (position + 1 == rows_read(request)) return no_token;
    const std::int32_t token = input.drafts[request * input.gamma + position];
    return static_cast<std::uint32_t>(token) < input.vocabulary ? token : no_token;
  }
};

// ---- `greedy_match`: accept drafts while they are the target's most probable token, then emit that token [Stern2018].
//
// One launch (row_verification.hpp). Reads the target's rows once and no draft logits; writes the outputs, 12 bytes for
// each share of a row and 8 for each row. Lower bound: (gamma + 1) V s bytes per request.

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
