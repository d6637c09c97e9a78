// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/row_verification.hpp"
#include "gpu_bench/verify/tree_verification.hpp"

namespace foredraft::gpu_bench {

/// Drafts in a tree. The walk goes from the root to the first child that holds the token which the row of its parent
/// says, while there is one.
template <class StorageType>
struct TreePath {
  using Storage = StorageType;

  TreeVerificationInput<Storage> input;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned batch() const { return input.batch; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return input.nodes + 1; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned vocabulary() const { return input.vocabulary; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows_read(unsigned /*request*/) const { return rows(); }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE TargetRow<Storage> row(unsigned request, unsigned position) const {
    const unsigned index = request * rows() + position;
    return {.logits = input.target_logits + static_cast<std::int64_t>(index) * input.vocabulary,
            .draft = no_token,
            .request = request,
            .position = position,
            .index = index};
  }

  /// All nodes look for their child at once, in shared memory; what is left for one thread is to follow them.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void walk(Block& block, unsigned request, const RowVerdict* verdicts,
                                  const VerificationOutput& output, std::byte* scratch) const {
    auto* nodes = reinterpret_cast<Node*>(scratch);
    for (unsigned i = block.thread(); i < rows(); i += block.threads()) {
      nodes[i] = {.verdict = verdicts[i],
                  .token = i > 0 ? input.node_tokens[request * rows() + i] : no_token,
                  .next_sibling = input.next_siblings[i],
                  .next = no_node};
    }
    block.sync();
    for (unsigned i = block.thread(); i < rows(); i += block.threads()) {
      std::int32_t child = nodes[i].verdict.accepted ? input.first_children[i] : no_node;
      while (child != no_node && nodes[child].token != nodes[i].verdict.token) child = nodes[child].next_sibling;
      nodes[i].next = child;
    }
    block.sync();
    if (block.thread() != 0) return;
    std::int32_t* tokens = output.tokens + request * (input.depth + 1);
    unsigned count = 0;
    bool fault = false;
    for (std::int32_t node = 0; node != no_node; node = nodes[node].next) {
      tokens[count] = nodes[node].verdict.token;
      fault = fault || nodes[node].verdict.fault;
      ++count;
    }
    for (unsigned i = count; i <= input.depth; ++i) tokens[i] = no_token;
    output.emitted_counts[request] = static_cast<std::int32_t>(count);
    output.faults[request] = fault ? 1U : 0U;
  }

  [[nodiscard]] unsigned scratch_bytes(unsigned /*threads*/) const {
    return rows() * static_cast<unsigned>(sizeof(Node));
  }

  [[nodiscard]] latency::Work work() const {
    const double nodes = static_cast<double>(input.batch) * input.nodes;
    const double requests = input.batch;
    return {.read_bytes = 4 * (3 * nodes + 2 * requests),
            .written_bytes = 4 * (requests * input.depth + 3 * requests),
            .flop = 0.0};
  }

 private:
  struct Node {
    RowVerdict verdict;
    std::int32_t token;
    std::int32_t next_sibling;
    std::int32_t next;  ///< where the walk goes from here
  };
};

}  // namespace foredraft::gpu_bench
