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

/// The cutter's floats begin at a multiple of 16 bytes.
template <class Storage, class Launcher>
void wagner_exact(const VerificationInput<Storage>& input, const VerificationOutput& output, WorkspaceCutter& cutter,
                  Launcher& launcher) {
  using namespace published;
  const TiledTensors<Storage> tensors{cutter, input.batch, input.gamma, input.vocabulary};
  const std::int64_t positions = tensors.batch * tensors.gamma;
  auto* drafts = cutter.tensor<Storage>(positions * tensors.vocabulary);
  auto* targets = cutter.tensor<Storage>((positions + tensors.batch) * tensors.vocabulary);
  auto* draft_row_faults = cutter.tensor<std::uint32_t>(positions);
  auto* target_row_faults = cutter.tensor<std::uint32_t>(positions + tensors.batch);
  set_tensors(tensors, launcher);
  softmax_rows(input, RowsOf::target, targets, target_row_faults, launcher);
  if (input.gamma > 0) {
    softmax_rows(input, RowsOf::drafter, drafts, draft_row_faults, launcher);
    launcher.launch(TiledRatiosKernel<Storage, AsTheyAre>{.input = input,
                                                          .values = {},
                                                          .targets = targets,
                                                          .drafts = drafts,
                                                          .ratios = tensors.ratios,
                                                          .residuals = tensors.residuals,
                                                          .sums = tensors.sums,
                                                          .probabilities = nullptr,
                                                          .row_faults = nullptr});
  }
  emit_from_ratios(input, output, tensors, targets, target_row_faults, draft_row_faults, launcher);
}

// ---- The sigmoid variant of [Wagner2024] (dwgnr/optimized-speculative-sampling,
// speculative_sampling_{fp32,half}_sigmoid.cu): the exact variant with sigma((z - low) / (high - low)) in place of
// both softmaxes. What it emits is not distributed as the target's tokens are: see
// sim/token/rules/sampling_rules.cpp.
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
// Errors of the published code that are corrected here, besides those above: it transforms g rows
// of the target's g + 1, so the token after accepted drafts is sampled from raw logits; and it gives every token of the
// vocabulary a weight of at least 1e-5 after its sigmas, also those that a residual excludes. Here all rows are
// transformed, none is clamped, and that token is sampled from the normalized sigmas of its row.
//
// Compared with lower bound L0: (2 g + 1) V elements, each logit once.

/// Scale of logits: low < high. The published code has -10,000 and 10,000.
struct SigmoidScale {
  float low;
  float high;
};

/// The cutter's floats begin at a multiple of 16 bytes.
template <class Storage, class Launcher>
void wagner_sigmoid(const VerificationInput<Storage>& input, const VerificationOutput& output,
                    const SigmoidScale& scale, WorkspaceCutter& cutter, Launcher& launcher) {
  using namespace published;
  const TiledTensors<Storage> tensors{cutter, input.batch, input.gamma, input.vocabulary};
  auto* sigmas = cutter.tensor<Storage>(tensors.batch * (tensors.gamma + 1) * tensors.vocabulary);
  auto* row_faults = cutter.tensor<std::uint32_t>(tensors.batch * (tensors.gamma + 1));
  set_tensors(tensors, launcher);
  launcher.launch(TiledRatiosKernel<Storage, ScaledSigmoid>{.input = input,
                                                            .values = {.low = scale.low, .high = scale.high},
                                                            .targets = input.target_logits,
                                                            .drafts = input.draft_logits,
                                                            .ratios = tensors.ratios,
                                                            .residuals = tensors.residuals,
                                                            .sums = tensors.sums,
                                                            .probabilities = sigmas,
                                                            .row_faults = row_faults});
  emit_from_ratios(input, output, tensors, sigmas, row_faults, nullptr, launcher);
}

}  // namespace foredraft::gpu_bench
