// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/multinomial.hpp"

namespace foredraft::gpu_bench::published {

/// Rows hold probabilities.
struct AsTheyAre {
  static constexpr bool of_logits = false;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE float of(float value) const { return value; }
};

/// Rows hold logits z; sigma((z - low) / (high - low)) is used as the probability.
struct ScaledSigmoid {
  static constexpr bool of_logits = true;

  float low;
  float high;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE float of(float logit) const {
    const float scaled = (clean_logit(logit) - low) / (high - low);
    return 1.0F / (1.0F + std::exp(-scaled));
  }
};

/// p / q and max(0, p - q) of every token of every drafted position, and the sum of the latter: one block per position,
/// in tiles of as many tokens as threads, summed over the block tile by tile.
template <class Storage, class Values>
struct TiledRatiosKernel {
  static constexpr unsigned max_threads = 1024;

  VerificationInput<Storage> input;
  Values values;
  const Storage* targets;     ///< [batch, gamma + 1, vocabulary]
  const Storage* drafts;      ///< [batch, gamma, vocabulary]
  Storage* ratios;            ///< [batch, gamma, vocabulary]
  Storage* residuals;         ///< [batch, gamma, vocabulary]
  Storage* sums;              ///< [batch, gamma]: added to
  Storage* probabilities;     ///< [batch, gamma + 1, vocabulary], if values are transformed
  std::uint32_t* row_faults;  ///< [batch, gamma + 1], likewise; of both models' rows
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = input.batch * positions(),
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(sizeof(float) * 2 * (threads / warp_lanes))};
  }
  [[nodiscard]] Traffic traffic() const {
    const double row = static_cast<double>(input.batch) * input.vocabulary;
    const double read_rows = input.gamma + positions();
    const double written_rows = 2.0 * input.gamma + (Values::of_logits ? positions() : 0);
    return {.read_bytes = (read_rows * row + static_cast<double>(input.batch) * input.gamma) * sizeof(Storage),
            .written_bytes = (written_rows * row + static_cast<double>(input.batch) * input.gamma) * sizeof(Storage)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned request = block.block() / positions();
    const unsigned position = block.block() % positions();
    const unsigned count = draft_count(block, input, request);
    if (position >= count + (Values::of_logits ? 1 : 0)) {
      if (Values::of_logits && block.thread() == 0) row_faults[block.block()] = 0;
      return;
    }
    const bool drafted = position < count;
    const std::int64_t target_row = row_of(request, input.gamma + 1, position) * input.vocabulary;
    const std::int64_t draft_row = row_of(request, input.gamma, position) * input.vocabulary;
    Seen target_row_has;
    Seen draft_row_has;
    float sum = 0.0F;
    unsigned turn = 0;
    for (unsigned start = 0; start < input.vocabulary; start += block.threads()) {
      const unsigned i = start + block.thread();
      float difference = 0.0F;
      // Threads beyond the row's end add zeros and reach the barrier of the sum like all others.
      if (i < input.vocabulary) {
        const float target = value_of(targets[target_row + i], target_row_has);
        if constexpr (Values::of_logits) probabilities[target_row + i] = from_float<Storage>(target);
        if (drafted) {
          const float draft = value_of(drafts[draft_row + i], draft_row_has);
          difference = target > draft ? target - draft : 0.0F;
          ratios[draft_row + i] = from_float<Storage>(target / draft);
          residuals[draft_row + i] = from_float<Storage>(difference);
        }
      }
      sum += block_sum(block, difference, scratch_of(block, turn++));
    }
    if (drafted && block.thread() == 0) {
      Storage& total = sums[row_of(request, input.gamma, position)];
      total = from_float<Storage>(to_float(total) + sum);
    }
    if constexpr (Values::of_logits) {
      const float faults = block_sum(block, target_row_has.faults + draft_row_has.faults, scratch_of(block, turn++));
      const float targets_possible = block_sum(block, target_row_has.possible, scratch_of(block, turn++));
      const float drafts_possible = block_sum(block, draft_row_has.possible, scratch_of(block, turn++));
      const bool nothing_possible = targets_possible == 0.0F || (drafted && drafts_possible == 0.0F);
      if (block.thread() == 0) row_faults[block.block()] = faults > 0.0F || nothing_possible ? 1 : 0;
    }
  }

 private:
  /// Faults of a row of logits seen by a thread, 0 or 1.
  struct Seen {
    float faults = 0.0F;
    float possible = 0.0F;
  };

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned positions() const { return input.gamma + (Values::of_logits ? 1 : 0); }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE float value_of(Storage element, Seen& seen) const {
    const float value = to_float(element);
    if constexpr (Values::of_logits) {
      if (is_faulty(value)) seen.faults = 1.0F;
      if (clean_logit(value) > -std::numeric_limits<float>::infinity()) seen.possible = 1.0F;
    }
    return values.of(value);
  }

  /// Two alternating buffers: a warp may begin the next sum while another still reads the last.
  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static float* scratch_of(Block& block, unsigned turn) {
    return reinterpret_cast<float*>(block.shared()) + turn % 2 * (block.threads() / warp_lanes);
  }
};

// ---- Common parts of the two variants of [Wagner2024]: a kernel that writes the ratios and the residuals of every
// position and token, and the host code that uses them.

template <class Storage>
struct TiledTensors {
  WorkspaceCutter& cutter;
  std::int64_t batch, gamma, vocabulary;
  Storage* residuals = cutter.tensor<Storage>(batch * gamma * vocabulary);
  Storage* ratios = cutter.tensor<Storage>(batch * gamma * vocabulary);
  Storage* sums = cutter.tensor<Storage>(batch * gamma);
  Storage* gathered = cutter.tensor<Storage>(batch * gamma);
  MatchTensors<Storage> match{cutter, batch, gamma};
  Storage* weights = cutter.tensor<Storage>(batch * vocabulary);
  MultinomialTensors<Storage> draw{cutter, batch, vocabulary};
};

/// Two tensors of zeros, and sums that start above 0 to avoid a division by 0: three launches.
template <class Storage, class Launcher>
void set_tensors(const TiledTensors<Storage>& tensors, Launcher& launcher) {
  constexpr float min_sum = 1e-6F;
  const std::int64_t positions = tensors.batch * tensors.gamma;
  if (positions == 0) return;
  const auto set = [&](Storage* out, float value, std::int64_t elements) {
    launch_elementwise(launcher, Set<Storage>{.out = out, .value = value, .elements = elements});
  };
  set(tensors.residuals, 0.0F, positions * tensors.vocabulary);
  set(tensors.ratios, 0.0F, positions * tensors.vocabulary);
  set(tensors.sums, min_sum, positions);
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
  launcher.launch(RowKernel<Storage, DivideRow<Storage>>{
      .input = input,
      .matches = matches,
      .out = tensors.weights,
      .body = {
          .residuals = tensors.residuals, .sums = tensors.sums, .targets = targets, .residual_rows = input.gamma}});
  const DrawnRows<Storage> rows = multinomial(input, tensors.weights, targets, matches, tensors.draw, launcher);
  launcher.launch(EmitKernel<Storage>{.input = input,
                                      .output = output,
                                      .rows = rows,
                                      .drawn = tensors.draw.tokens,
                                      .target_row_faults = target_row_faults,
                                      .draft_row_faults = draft_row_faults});
}

}  // namespace foredraft::gpu_bench::published
