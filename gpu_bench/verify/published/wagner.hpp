// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/tiled.hpp"

/// The exact variant of [Wagner2024] (dwgnr/optimized-speculative-sampling, speculative_sampling_{fp32,half}.cu):
/// rejection sampling by softmax, then one kernel whose grid is (batch, gamma) blocks of 1,024 threads, each walking
/// its vocabulary in tiles.
///
/// Launches of a whole batch, in order (g drafts, vocabulary V, per request; * the host waits):
///
///     residuals = 0, ratios = 0, sums = 1e-6     writes 2 g V
///     p = softmax, q = softmax                   read 2 (2 g + 1) V, write (2 g + 1) V
///     ratios, residuals and sums *               reads 2 g V, writes 2 g V
///     ratios[draft]
///     rand, rand < ratio, ~, to integers, cumsum, < 1, sum = n *
///     residuals[n] / sums[n], or p[n]            reads V, writes V
///     multinomial **                             reads 4 V (see multinomial.hpp)
///     concatenate
///
/// 26 launches and 4 waits; (12 g + 9) V elements requested, of which the second read of a softmax's row, (2 g + 1) V,
/// comes from a cache. This is the memory traffic of 10 g + 12 rows counted for the published code, minus the 4
/// additional rows of its draw.
///
/// Errors of the published code that are corrected here: rows of requests after the first are found; every thread of a
/// block reaches every barrier, also in the last tile; the sum of that tile includes all tokens (theirs halves a length
/// that is not a power of two; here warps shuffle, with one barrier per tile instead of ten); a kernel requests the
/// shared memory that it uses; a residual without mass is sampled from p and the request is faulty, where theirs raises
/// an error. Sums are fp32 in the kernel for any storage type.
///
/// Compared with lower bound L0: (2 g + 1) V elements, each logit once.
namespace foredraft::gpu_bench {

namespace published {

template <class Storage>
struct WagnerExactTensors {
  TiledTensors<Storage> tiled;
  Storage* draft_probabilities;      ///< [batch, gamma, vocabulary]
  Storage* target_probabilities;     ///< [batch, gamma + 1, vocabulary]
  std::uint32_t* draft_row_faults;   ///< [batch, gamma]
  std::uint32_t* target_row_faults;  ///< [batch, gamma + 1]

  WagnerExactTensors(WorkspaceCutter& cutter, std::int64_t batch, std::int64_t gamma, std::int64_t vocabulary)
      : tiled(cutter, batch, gamma, vocabulary),
        draft_probabilities(cutter.tensor<Storage>(batch * gamma * vocabulary)),
        target_probabilities(cutter.tensor<Storage>(batch * (gamma + 1) * vocabulary)),
        draft_row_faults(cutter.tensor<std::uint32_t>(batch * gamma)),
        target_row_faults(cutter.tensor<std::uint32_t>(batch * (gamma + 1))) {}
};

}  // namespace published

/// Workspace of a call besides its inputs and outputs.
template <class Storage>
[[nodiscard]] WorkspaceSize wagner_exact_workspace(const VerificationShape& shape) {
  published::WorkspaceCutter cutter({.floats = nullptr, .counters = nullptr});
  const published::WagnerExactTensors<Storage> tensors(cutter, shape.batch, shape.gamma, shape.vocabulary);
  return cutter.size();
}

/// `workspace`: of the size above, its floats at a multiple of 16 bytes.
template <class Storage, class Launcher>
void wagner_exact(const VerificationInput<Storage>& input, const VerificationOutput& output, const Workspace& workspace,
                  Launcher& launcher) {
  using namespace published;
  WorkspaceCutter cutter(workspace);
  const WagnerExactTensors<Storage> tensors(cutter, input.batch, input.gamma, input.vocabulary);
  set_tensors(input, tensors.tiled, launcher);
  softmax_rows(input, RowsOf::target, tensors.target_probabilities, tensors.target_row_faults, launcher);
  if (input.gamma > 0) {
    softmax_rows(input, RowsOf::drafter, tensors.draft_probabilities, tensors.draft_row_faults, launcher);
    launcher.launch(TiledRatiosKernel<Storage, AsTheyAre>{.input = input,
                                                          .values = {},
                                                          .targets = tensors.target_probabilities,
                                                          .drafts = tensors.draft_probabilities,
                                                          .ratios = tensors.tiled.ratios,
                                                          .residuals = tensors.tiled.residuals,
                                                          .sums = tensors.tiled.sums,
                                                          .probabilities = nullptr,
                                                          .row_faults = nullptr});
  }
  emit_from_ratios(input, output, tensors.tiled, tensors.target_probabilities, tensors.target_row_faults,
                   tensors.draft_row_faults, launcher);
}

// ---- The sigmoid variant of [Wagner2024] (dwgnr/optimized-speculative-sampling,
// speculative_sampling_{fp32,half}_sigmoid .cu): the exact variant with sigma((z - low) / (high - low)) in place of
// both softmaxes. What it emits is not distributed as the target's tokens are: see
// sim/token/rules/sigmoid_approximation.cpp.
//
// Launches of a whole batch, in order (g drafts, vocabulary V, per request; * the host waits):
//
//     residuals = 0, ratios = 0, sums = 1e-6     writes 2 g V
//     sigmas, ratios, residuals and sums *       reads (2 g + 1) V, writes (3 g + 1) V
//     ratios[draft]
//     rand, rand < ratio, ~, to integers, cumsum, < 1, sum = n *
//     residuals[n] / sums[n], or sigma[n]        reads V, writes V
//     multinomial **                             reads 4 V (see multinomial.hpp)
//     concatenate
//
// 24 launches and 4 waits; (7 g + 8) V elements. The 7 g + 12 counted for the published code have 4 rows more for its
// draw and 2 for a clamp, and 2 fewer for the row after the last draft.
//
// Errors of the published code that are corrected here, besides those that wagner_exact.hpp lists: it transforms g rows
// of the target's g + 1, so the token after accepted drafts is sampled from raw logits; and it gives every token of the
// vocabulary a weight of at least 1e-5 after its sigmas, also those that a residual excludes. Here all rows are
// transformed, none is clamped, and that token is sampled from the normalized sigmas of its row.
//
// Compared with lower bound L0: (2 g + 1) V elements, each logit once.

namespace published {

template <class Storage>
struct WagnerSigmoidTensors {
  TiledTensors<Storage> tiled;
  Storage* sigmas;            ///< [batch, gamma + 1, vocabulary], the target's
  std::uint32_t* row_faults;  ///< [batch, gamma + 1]

  WagnerSigmoidTensors(WorkspaceCutter& cutter, std::int64_t batch, std::int64_t gamma, std::int64_t vocabulary)
      : tiled(cutter, batch, gamma, vocabulary),
        sigmas(cutter.tensor<Storage>(batch * (gamma + 1) * vocabulary)),
        row_faults(cutter.tensor<std::uint32_t>(batch * (gamma + 1))) {}
};

}  // namespace published

/// Scale of logits: low < high. The published code has -10,000 and 10,000.
struct SigmoidScale {
  float low;
  float high;
};

/// Workspace of a call besides its inputs and outputs.
template <class Storage>
[[nodiscard]] WorkspaceSize wagner_sigmoid_workspace(const VerificationShape& shape) {
  published::WorkspaceCutter cutter({.floats = nullptr, .counters = nullptr});
  const published::WagnerSigmoidTensors<Storage> tensors(cutter, shape.batch, shape.gamma, shape.vocabulary);
  return cutter.size();
}

/// `workspace`: of the size above, its floats at a multiple of 16 bytes.
template <class Storage, class Launcher>
void wagner_sigmoid(const VerificationInput<Storage>& input, const VerificationOutput& output,
                    const SigmoidScale& scale, const Workspace& workspace, Launcher& launcher) {
  using namespace published;
  WorkspaceCutter cutter(workspace);
  const WagnerSigmoidTensors<Storage> tensors(cutter, input.batch, input.gamma, input.vocabulary);
  set_tensors(input, tensors.tiled, launcher);
  launcher.launch(TiledRatiosKernel<Storage, ScaledSigmoid>{.input = input,
                                                            .values = {.low = scale.low, .high = scale.high},
                                                            .targets = input.target_logits,
                                                            .drafts = input.draft_logits,
                                                            .ratios = tensors.tiled.ratios,
                                                            .residuals = tensors.tiled.residuals,
                                                            .sums = tensors.tiled.sums,
                                                            .probabilities = tensors.sigmas,
                                                            .row_faults = tensors.row_faults});
  emit_from_ratios(input, output, tensors.tiled, static_cast<const Storage*>(tensors.sigmas), tensors.row_faults,
                   static_cast<const std::uint32_t*>(nullptr), launcher);
}

}  // namespace foredraft::gpu_bench
