#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu_bench/profile/cell.hpp"

/// Which cells are worth measuring, the most important first.
namespace foredraft::gpu_bench {

struct PlannedModel {
  std::string name;
  std::int64_t source_length = 0;  ///< > 0: it has an encoder, over this many positions
  std::int64_t positions = 0;      ///< > 0: no pass reaches beyond this many tokens
};

/// A target, a model that drafts for it, and how: one of the three drafting roles. Heads stand on the target itself.
struct PlannedPair {
  PlannedModel target;
  PlannedModel drafter;
  Role drafting = Role::autoregressive_drafting;
};

/// What is measured side by side, in turn, so that ratios within it do not see the device drift.
struct CellGroup {
  std::vector<Cell> cells;
  bool by_operation = false;  ///< not the pass of its one cell is measured, but each operation of this pass alone
};

/// All cells of all pairs, each once, in this order: at batch 1 and a context of 512 the passes over 1, 2, 4, ..., 32
/// tokens, then drafting and encoders, then the token counts between; passes over 1 and 6 tokens operation by
/// operation; batches of 2 to 64, and those of 8 and 64 operation by operation; contexts of 128 to 4,096; more than 32
/// tokens; the same buffers each time (hot) and eager launches for a few; then the next dtype. Within each step the
/// pairs follow in the order given, target and drafter in one group of whole passes. A context that leaves a model no
/// positions for 32 tokens is halved until it does; passes beyond the positions are left out. Throws DomainError for no
/// pairs, no dtypes and a drafting role that does not draft.
[[nodiscard]] std::vector<CellGroup> plan_cells(const std::vector<PlannedPair>& pairs,
                                                const std::vector<std::string>& dtypes);

}  // namespace foredraft::gpu_bench
