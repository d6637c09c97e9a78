// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/tiled_sequence.hpp"

/// The sigmoid variant of [Wagner2024] (dwgnr/optimized-speculative-sampling, speculative_sampling_{fp32,half}_sigmoid
/// .cu): the exact variant with sigma((z - low) / (high - low)) in place of both softmaxes. What it emits is not
/// distributed as the target's tokens are: see sim/token/rules/sigmoid_approximation.cpp.
///
/// Launches of a whole batch, in order (g drafts, vocabulary V, per request; * the host waits):
///
///     residuals = 0, ratios = 0, sums = 1e-6     writes 2 g V
///     sigmas, ratios, residuals and sums *       reads (2 g + 1) V, writes (3 g + 1) V
///     ratios[draft]
///     rand, rand < ratio, ~, to integers, cumsum, < 1, sum = n *
///     residuals[n] / sums[n], or sigma[n]        reads V, writes V
///     multinomial **                             reads 4 V (see multinomial.hpp)
///     concatenate
///
/// 24 launches and 4 waits; (7 g + 8) V elements. The 7 g + 12 counted for the published code have 4 rows more for its
/// draw and 2 for a clamp, and 2 less for the row behind the last draft.
///
/// What the published code gets wrong and this does not, besides what wagner_exact.hpp lists: it transforms g rows of
/// the target's g + 1, so that the token behind accepted drafts is drawn from raw logits; and it gives every token of
/// the vocabulary a weight of at least 1e-5 behind its sigmas, also those that a residual excludes. Here all rows are
/// transformed, none is clamped, and that token is drawn from the sigmas of its row, normalised.
///
/// Measured against floor L0: (2 g + 1) V elements, each logit once.
namespace foredraft::gpu_bench {

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

/// What logits are scaled by: low < high. The published code has -10,000 and 10,000.
struct SigmoidScale {
  float low;
  float high;
};

/// Memory that a call takes besides its inputs and outputs.
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
