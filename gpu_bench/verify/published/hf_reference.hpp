// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/multinomial.hpp"

/// `_speculative_sampling` of huggingface/transformers (src/transformers/generation/utils.py, version 4.38 as in
/// [Wagner2024] and in substance still today): rejection sampling from tensor operations, one launch each, whose
/// results pass through memory in the logits' own type.
///
/// Launches of one request, in order (g drafts, vocabulary V; * the host reads the result before it goes on):
///
///     q = softmax                     reads 2 g V, writes g V
///     q_i = q[draft]
///     p = softmax                     reads 2 (g + 1) V, writes (g + 1) V
///     p_i = p[draft]
///     p_i / q_i
///     rand, rand < ratio, ~, to integers, cumsum, < 1, sum = n *
///     n < g *, q[n] *
///     p[n] - q[n]                     reads 2 V, writes V
///     clamp at 0                      reads V, writes V
///     sum                             reads V
///     divide in place                 reads V, writes V
///     multinomial: max, < inf, min, >= 0, and *, sum, == 0, sum *    reads 3 V
///                  draw: two launches, reads V (see multinomial.hpp)
///     n > 0 *, slice [:n] *, concatenate
///
/// 29 launches and 7 waits if a draft is rejected. After accepted drafts the library skips four (p[n] - q[n] to the
/// division) and with n = 0 the last; launches here do not branch, so they run and leave p[n] unchanged. In total
/// (6 g + 15) V elements are requested; the second read of a softmax's row, (2 g + 1) V, comes from a cache. This is
/// the memory traffic of 4 g + 18 rows counted for the library, minus the 4 additional rows of its draw.
///
/// The library handles one request at a time: B requests are B such sequences.
///
/// In the case where it raises an error, a residual without mass, this code samples the token from p and the request is
/// faulty. The library accepts a token of p = 0 with a uniform of 0, which is rejected here.
///
/// Compared with lower bound L0: (2 g + 1) V elements, each logit once.
namespace foredraft::gpu_bench {

namespace published {

template <class Storage>
struct HfTensors {
  WorkspaceCutter& cutter;
  std::int64_t gamma, vocabulary;
  Storage* draft_probabilities = cutter.tensor<Storage>(gamma * vocabulary);
  Storage* target_probabilities = cutter.tensor<Storage>((gamma + 1) * vocabulary);
  Storage* draft_gathered = cutter.tensor<Storage>(gamma);
  Storage* target_gathered = cutter.tensor<Storage>(gamma);
  Storage* ratios = cutter.tensor<Storage>(gamma);
  std::uint32_t* draft_row_faults = cutter.tensor<std::uint32_t>(gamma);
  std::uint32_t* target_row_faults = cutter.tensor<std::uint32_t>(gamma + 1);
  MatchTensors<Storage> match{cutter, 1, gamma};
  std::uint8_t* flag = cutter.tensor<std::uint8_t>(1);  ///< what the host branches on
  Storage* difference = cutter.tensor<Storage>(vocabulary);
  Storage* residual = cutter.tensor<Storage>(vocabulary);
  MultinomialTensors<Storage> draw{cutter, 1, vocabulary};
};

/// A batch of one request.
template <class Storage>
[[nodiscard]] VerificationInput<Storage> request_of(VerificationInput<Storage> input, unsigned request) {
  const auto move = [request](auto*& pointer, std::int64_t elements) {
    if (pointer != nullptr) pointer += request * elements;  // null where only costs are counted
  };
  move(input.target_logits, (std::int64_t{input.gamma} + 1) * input.vocabulary);
  move(input.draft_logits, std::int64_t{input.gamma} * input.vocabulary);
  move(input.drafts, input.gamma);
  move(input.draft_counts, 1);
  input.draws.first_request += request;
  input.batch = 1;
  return input;
}

[[nodiscard]] inline VerificationOutput request_of(VerificationOutput output, unsigned gamma, unsigned request) {
  if (output.tokens == nullptr) return output;
  return {.tokens = output.tokens + row_of(request, gamma + 1, 0),
          .emitted_counts = output.emitted_counts + request,
          .faults = output.faults + request};
}

template <class Storage, class Launcher>
void hf_sequence(const VerificationInput<Storage>& input, const VerificationOutput& output,
                 const HfTensors<Storage>& tensors, Launcher& launcher) {
  const auto gather = [&](const Storage* rows, unsigned rows_per_request, Storage* out) {
    launcher.launch(
        GatherKernel<Storage>{.input = input, .rows = rows, .rows_per_request = rows_per_request, .out = out});
  };
  const std::uint32_t* matches = tensors.match.matches;
  const auto wait_for_matches = [&] { launcher.read_back(matches, sizeof(std::uint32_t)); };

  if (input.gamma > 0) {
    softmax_rows(input, RowsOf::drafter, tensors.draft_probabilities, tensors.draft_row_faults, launcher);
    gather(tensors.draft_probabilities, input.gamma, tensors.draft_gathered);
  }
  softmax_rows(input, RowsOf::target, tensors.target_probabilities, tensors.target_row_faults, launcher);
  if (input.gamma > 0) {
    gather(tensors.target_probabilities, input.gamma + 1, tensors.target_gathered);
    combine<Divide>(tensors.target_gathered, tensors.draft_gathered, tensors.ratios, input.gamma, launcher);
  }
  count_matches(input, tensors.ratios, tensors.match, launcher);
  wait_for_matches();  // p[:, n]

  launch_elementwise(launcher,
                     HasDraft<Storage>{.input = input, .matches = matches, .out = tensors.flag, .elements = 1});
  launcher.read_back(tensors.flag, 1);
  wait_for_matches();  // q[:, n]
  launcher.launch(RowKernel<Storage, SubtractRows<Storage>>{
      .input = input,
      .matches = matches,
      .out = tensors.difference,
      .body = {.targets = tensors.target_probabilities, .drafts = tensors.draft_probabilities}});
  map<ClampAtZero>(tensors.difference, tensors.residual, input.vocabulary, launcher);
  reduce_rows<Sum>(input, tensors.residual, tensors.draw.sums, tensors.draw, launcher);
  launcher.launch(RowKernel<Storage, DivideRow<Storage>>{.input = input,
                                                         .matches = matches,
                                                         .out = tensors.residual,
                                                         .body = {.residuals = tensors.residual,
                                                                  .sums = tensors.draw.sums,
                                                                  .targets = tensors.target_probabilities,
                                                                  .residual_rows = 1}});

  const DrawnRows<Storage> rows =
      multinomial(input, tensors.residual, tensors.target_probabilities, matches, tensors.draw, launcher);
  map<IsPositive>(matches, tensors.flag, 1, launcher);
  launcher.read_back(tensors.flag, 1);
  wait_for_matches();  // [:, :n]
  launcher.launch(EmitKernel<Storage>{.input = input,
                                      .output = output,
                                      .rows = rows,
                                      .drawn = tensors.draw.tokens,
                                      .target_row_faults = tensors.target_row_faults,
                                      .draft_row_faults = tensors.draft_row_faults});
}

}  // namespace published

/// Takes the memory of one request, for any batch size; the cutter's floats begin at a multiple of 16 bytes.
template <class Storage, class Launcher>
void hf_reference(const VerificationInput<Storage>& input, const VerificationOutput& output, WorkspaceCutter& cutter,
                  Launcher& launcher) {
  const published::HfTensors<Storage> tensors{cutter, input.gamma, input.vocabulary};
  for (unsigned request = 0; request < input.batch; ++request) {
    published::hf_sequence(published::request_of(input, request), published::request_of(output, input.gamma, request),
                           tensors, launcher);
  }
}

}  // namespace foredraft::gpu_bench
