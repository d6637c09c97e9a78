// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/launcher.hpp"
#include "gpu_bench/verify/published/count_matches.hpp"
#include "gpu_bench/verify/published/emit.hpp"
#include "gpu_bench/verify/published/row_steps.hpp"
#include "gpu_bench/verify/published/tiled_ratios.hpp"

/// What the two variants of [Wagner2024] share: a kernel that writes the ratios and the residuals of every position
/// and token, and what the host makes of them.
namespace foredraft::gpu_bench::published {

template <class Storage>
struct TiledTensors {
  Storage* residuals;  ///< [batch, gamma, vocabulary]
  Storage* ratios;     ///< [batch, gamma, vocabulary]
  Storage* sums;       ///< [batch, gamma]
  Storage* gathered;   ///< [batch, gamma]
  MatchTensors<Storage> match;
  Storage* weights;  ///< [batch, vocabulary]
  MultinomialTensors<Storage> draw;

  TiledTensors(WorkspaceCutter& cutter, std::int64_t batch, std::int64_t gamma, std::int64_t vocabulary)
      : residuals(cutter.tensor<Storage>(batch * gamma * vocabulary)),
        ratios(cutter.tensor<Storage>(batch * gamma * vocabulary)),
        sums(cutter.tensor<Storage>(batch * gamma)),
        gathered(cutter.tensor<Storage>(batch * gamma)),
        match(cutter, batch, gamma),
        weights(cutter.tensor<Storage>(batch * vocabulary)),
        draw(cutter, batch, vocabulary) {}
};

/// Two tensors of zeros, and sums that start above 0, as nothing is to be divided by 0: three launches.
template <class Storage, class Launcher>
void set_tensors(const VerificationInput<Storage>& input, const TiledTensors<Storage>& tensors, Launcher& launcher) {
  constexpr float least_sum = 1e-6F;
  const std::int64_t positions = static_cast<std::int64_t>(input.batch) * input.gamma;
  if (positions == 0) return;
  launcher.launch(
      SetKernel<Storage>{.out = tensors.residuals, .value = 0.0F, .elements = positions * input.vocabulary});
  launcher.launch(SetKernel<Storage>{.out = tensors.ratios, .value = 0.0F, .elements = positions * input.vocabulary});
  launcher.launch(SetKernel<Storage>{.out = tensors.sums, .value = least_sum, .elements = positions});
}

/// From the ratios to the emitted tokens: 20 launches, four waits.
template <class Storage, class Launcher>
void emit_from_ratios(const VerificationInput<Storage>& input, const VerificationOutput& output,
                      const TiledTensors<Storage>& tensors, const Storage* targets,
                      const std::uint32_t* target_row_faults, const std::uint32_t* draft_row_faults,
                      Launcher& launcher) {
  launcher.read_back(tensors.sums, 0);  // for the kernel itself
  if (input.gamma > 0) {
    launcher.launch(GatherKernel<Storage>{
        .input = input, .rows = tensors.ratios, .rows_per_request = input.gamma, .out = tensors.gathered});
  }
  count_matches(input, tensors.gathered, tensors.match, launcher);
  const std::uint32_t* matches = tensors.match.matches;
  launcher.read_back(matches, input.batch * sizeof(std::uint32_t));
  launcher.launch(DivideRowKernel<Storage>{.input = input,
                                           .residuals = tensors.residuals,
                                           .sums = tensors.sums,
                                           .targets = targets,
                                           .matches = matches,
                                           .out = tensors.weights,
                                           .residual_rows = input.gamma});
  const DrawnRows<Storage> rows = multinomial(input, tensors.weights, targets, matches, tensors.draw, launcher);
  launcher.launch(EmitKernel<Storage>{.input = input,
                                      .output = output,
                                      .rows = rows,
                                      .drawn = tensors.draw.tokens,
                                      .target_row_faults = target_row_faults,
                                      .draft_row_faults = draft_row_faults});
}

}  // namespace foredraft::gpu_bench::published
