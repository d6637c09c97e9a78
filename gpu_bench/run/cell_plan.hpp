// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/operations/program.hpp"
#include "latency/profile/cell.hpp"

/// The verifications to time, the most important first.
namespace foredraft::gpu_bench {

/// A verifier to time as a graph. If the host waits for its results, it is also timed with individual launches, as it
/// runs in practice, with logits in the cache: otherwise the cost of waiting hides the difference.
struct PlannedVerifier {
  std::string name;
  bool waits_for_host = false;
};

/// Groups to measure interleaved, all verifiers over the same logits, the most important first: the core grid of batch
/// sizes 1, 8, 64, of gamma 1, 5, 20 and of vocabularies 32,000, 128,256, 256,000 in fp16, batch 1 first, cold and hot;
/// the same in fp32; at batch 1 and 64 and gamma 5 other vocabularies, bf16, and other logits.
[[nodiscard]] std::vector<std::vector<latency::VerificationCell>> plan_verifications(
    const std::vector<PlannedVerifier>& verifiers);

// ---- The cells to measure, the most important first.

struct PlannedModel {
  std::string name;
  std::int64_t source_length = 0;  ///< > 0: it has an encoder, with this many positions
  std::int64_t positions = 0;      ///< > 0: no pass extends beyond this many tokens
};

/// A target, its drafter, and one of the three drafting roles. Heads are part of the target.
struct PlannedPair {
  PlannedModel target;
  PlannedModel drafter;
  latency::Role drafting = latency::Role::autoregressive_drafting;
};

/// True for the three drafting roles.
[[nodiscard]] bool drafts(latency::Role role);

/// Cells that are measured interleaved, so that drift of the device does not affect ratios within the group.
struct CellGroup {
  std::vector<latency::Cell> cells;
  bool by_operation = false;  ///< measure each operation of the pass of its one cell separately instead of the pass
};

/// The cells of all pairs, each once, in this order: at batch 1 and a context of 512 the passes over 1, 2, 4, ..., 32
/// tokens, then drafting and encoders, then the token counts between; passes over 1 and 6 tokens by operation; batch
/// sizes of 2 to 64, and those of 8 and 64 by operation; contexts of 128 to 4,096; more than 32 tokens; a hot cache and
/// eager launches for a few; then the next dtype. Within each step the pairs follow in the given order, target and
/// drafter in one group of whole passes. A context that leaves a model no positions for 32 tokens is halved until it
/// does; passes beyond the positions are omitted. Throws DomainError for no pairs, no dtypes and a drafting role that
/// does not draft.
[[nodiscard]] std::vector<CellGroup> plan_cells(const std::vector<PlannedPair>& pairs,
                                                const std::vector<std::string>& dtypes);

/// The requested batch sizes and contexts, the most important first.
struct PlanGrid {
  std::vector<std::string> dtypes;
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> contexts;
  latency::Launch launch = latency::Launch::graph;
};

/// The cells that predictions for the pairs need at each grid point: passes of the target over 1 to 16 tokens, of the
/// drafter over 1 and 2 (it reads a fully accepted draft's last token besides the bonus), drafts of 1 and 4 tokens, for
/// blocks and heads also of 8; finally the encoders, at the first batch size. Throws DomainError as plan_cells does,
/// and for an empty grid.
[[nodiscard]] std::vector<CellGroup> plan_grid(const std::vector<PlannedPair>& pairs, const PlanGrid& grid);

/// Sampling of the passes of a grid, at any context: fused_exact over real-like logits, hot (the pass has just written
/// them), with gamma 0 (a token from each row), 1, 4 and 8. One cell a group, because a group shares its logits: by
/// dtype and batch size in the grid's order, then by vocabulary of the pairs' targets, each once, then by gamma. Throws
/// DomainError for a target that `models` does not hold.
[[nodiscard]] std::vector<std::vector<latency::VerificationCell>> plan_sampling(
    const std::vector<PlannedPair>& pairs, const std::vector<latency::ModelShape>& models, const PlanGrid& grid);

// ---- Default pairs of models, and the pass of a cell of the plan.

/// The default pairs, the most used in papers first.
[[nodiscard]] std::vector<PlannedPair> default_pairs(const std::vector<latency::ModelShape>& models);

/// The default pairs on a CPU: small models, both ways of drafting.
[[nodiscard]] std::vector<PlannedPair> default_cpu_pairs(const std::vector<latency::ModelShape>& models);

/// The first of `names` as target with each other one as drafter; a single one with itself. A pair that is block
/// drafting by default is so here, all others draft autoregressively. Throws DomainError for unknown names and for
/// models whose passes cannot be run.
[[nodiscard]] std::vector<PlannedPair> pairs_of(const std::vector<latency::ModelShape>& models,
                                                const std::vector<std::string>& names);

/// Throws DomainError if the model is unknown or has no such pass.
[[nodiscard]] latency::Program program_of(const std::vector<latency::ModelShape>& models, const latency::Cell& cell);

}  // namespace foredraft::gpu_bench
