// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency/profile/cell.hpp"

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
  latency::Role drafting = latency::Role::autoregressive_drafting;
};

/// What is measured side by side, in turn, so that ratios within it do not see the device drift.
struct CellGroup {
  std::vector<latency::Cell> cells;
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

/// The batches and contexts that are asked for, the most important first.
struct PlanGrid {
  std::vector<std::string> dtypes;
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> contexts;
  latency::Launch launch = latency::Launch::graph;
};

/// At each of them, what a prediction for the pairs needs: passes of the target over 1 to 16 tokens, of the drafter
/// over 1 and 2 (it reads a fully accepted draft's last token besides the bonus), drafts of 1 and 4 tokens, by blocks
/// and heads also of 8; behind all of these the encoders, at the first batch. Throws DomainError as plan_cells does,
/// and for an empty grid.
[[nodiscard]] std::vector<CellGroup> plan_grid(const std::vector<PlannedPair>& pairs, const PlanGrid& grid);

}  // namespace foredraft::gpu_bench
