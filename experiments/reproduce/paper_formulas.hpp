// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"

/// What the papers' tables are computed from. Arguments are printed numbers or follow from them.
namespace foredraft::experiments {

/// What declared formulas call by this name, with its arguments. Throws std::logic_error where there is none.
using PaperFormula = double (*)(const std::vector<double>& arguments);
[[nodiscard]] PaperFormula paper_formula(std::string_view name);

// ---- Predictions of i.i.d. acceptance, with the bonus convention and autoregressive drafting.

[[nodiscard]] double iid_tokens(double alpha, std::int64_t gamma);
[[nodiscard]] double iid_speedup(double alpha, std::int64_t gamma, double c);

[[nodiscard]] analytic::BestGamma best_iid(double alpha, double c);

// ---- Time of a sentence with a drafter that writes a block at once: [Xia2023, Eq. 4] and the costs that it leaves
// out.

/// In milliseconds. Iterations may be a mean.
struct BlockLatency {
  double target_encoder_ms;   ///< once per sentence
  double drafter_encoder_ms;  ///< once per sentence
  double draft_ms;            ///< one drafting pass, for any block size (t_d)
  double verify_ms;           ///< one forward pass of the target over a block (t_v)
  double fixed_ms;            ///< other costs of a sentence

  [[nodiscard]] double setup_ms() const { return target_encoder_ms + drafter_encoder_ms + fixed_ms; }
  [[nodiscard]] double sentence_ms(double iterations) const { return setup_ms() + iterations * (draft_ms + verify_ms); }
  /// Without verification, its drafts taken as the output.
  [[nodiscard]] double drafter_alone_ms(double iterations) const { return drafter_encoder_ms + iterations * draft_ms; }
};

/// The module profile of [Xia2022, Table 18], of a translation with 3.1 iterations on average (its Table 1,
/// "high-efficiency"): drafting and verification per iteration, the encoders and "Others" per sentence.
[[nodiscard]] BlockLatency specdec_profile();

/// Time of the same sentence under beam search: the profile's total times the speedup printed for it, 4.5.
[[nodiscard]] double specdec_beam_ms();

/// Mean tokens of a translation: Tok times iterations of one row of [Xia2022, Table 5] (vanilla, NAT-base).
[[nodiscard]] double specdec_mean_tokens();

/// The i.i.d. acceptance that yields this many tokens per iteration of a test set: blocks of `block` drafts without a
/// bonus token, sentences of specdec_mean_tokens().
[[nodiscard]] double specdec_alpha(double tokens_per_iteration, std::int64_t block);
[[nodiscard]] double specdec_tokens(double alpha, std::int64_t block);

// ---- Fewer calls of a verification kernel, and faster ones. [Wagner2024] A gain is the part of a time that is saved,
// 1 - after / before.

/// Gain of all calls together if each has `call_gain` and there are `call_ratio` times as many.
[[nodiscard]] double total_gain(double call_gain, double call_ratio);

/// The ratio of numbers of calls that explains both gains. `call_gain` < 1.
[[nodiscard]] double implied_call_ratio(double total_gain, double call_gain);

}  // namespace foredraft::experiments
