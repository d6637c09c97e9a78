// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/operations/program.hpp"
#include "latency/profile/cell.hpp"
#include "latency/surfaces/pass_work.hpp"

/// Which verifications are worth timing, the most important first.
namespace foredraft::gpu_bench {

/// A verifier to be timed, as a graph. One for whose results the host waits is timed launch by launch too, as it runs,
/// where its logits lie in the cache: what waiting costs hides the difference.
struct PlannedVerifier {
  std::string name;
  bool waits_for_host = false;
};

/// Groups to be measured side by side, all verifiers over the same logits, the most important first: the core grid of
/// batches 1, 8, 64, of gamma 1, 5, 20 and of vocabularies 32,000, 128,256, 256,000 in fp16, at batch 1 first, cold and
/// hot; the same in fp32; at batch 1 and 64 and gamma 5 other vocabularies, bf16, and other logits.
[[nodiscard]] std::vector<std::vector<latency::VerificationCell>> plan_verifications(
    const std::vector<PlannedVerifier>& verifiers);

/// What passes of this type and launch sample with: fused_exact over real-like logits, hot, for the pass has just
/// written them, with gamma 0 (a token from each row), 1, 4 and 8. A group a batch and vocabulary, batches in their
/// order; equal vocabularies count once.
[[nodiscard]] std::vector<std::vector<latency::VerificationCell>> plan_sampling(
    const std::vector<std::int64_t>& batches, std::vector<std::int64_t> vocabularies, const std::string& dtype,
    latency::Launch launch);

// ---- Which cells are worth measuring, the most important first.

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

// ---- Which model drafts for which, and the pass that a cell of the plan stands for.

/// The pairs that are measured unless others are asked for, the most used in papers first.
[[nodiscard]] std::vector<PlannedPair> default_pairs(const std::vector<latency::ModelShape>& models);

/// Those that a CPU is measured with: small, and of both ways of drafting.
[[nodiscard]] std::vector<PlannedPair> default_cpu_pairs(const std::vector<latency::ModelShape>& models);

/// The first of `names` as target of each other one; a single one with itself. A pair that is measured as block
/// drafting by default is here as well, all others draft token by token. Throws DomainError for unknown names
/// and for models whose passes cannot be run.
[[nodiscard]] std::vector<PlannedPair> pairs_of(const std::vector<latency::ModelShape>& models,
                                                const std::vector<std::string>& names);

/// Throws DomainError where the model is unknown or has no such pass.
[[nodiscard]] latency::Program program_of(const std::vector<latency::ModelShape>& models, const latency::Cell& cell);

}  // namespace foredraft::gpu_bench
