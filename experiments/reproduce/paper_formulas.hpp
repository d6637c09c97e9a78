// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"

/// Formulas for the papers' tables. Arguments are printed numbers or computed from them.
namespace foredraft::experiments {

/// The function of this name in declared formulas. Throws std::logic_error for an unknown name.
using PaperFormula = double (*)(const std::vector<double>& arguments);
[[nodiscard]] PaperFormula paper_formula(std::string_view name);

// ---- Closed forms of i.i.d. acceptance, with a bonus token and autoregressive drafting.

[[nodiscard]] double iid_tokens(double alpha, std::int64_t gamma);
[[nodiscard]] double iid_speedup(double alpha, std::int64_t gamma, double c);

[[nodiscard]] analytic::BestGamma best_iid(double alpha, double c);

// ---- Time of a sentence with a block drafter: [Xia2023, Eq. 4], plus the costs that it omits.

/// Times in ms. Iterations may be a mean.
struct BlockLatency {
  double target_encoder_ms;   ///< once per sentence
  double drafter_encoder_ms;  ///< once per sentence
  double draft_ms;            ///< one drafting pass, for any block size (t_d)
  double verify_ms;           ///< one forward pass of the target over a block (t_v)
  double fixed_ms;            ///< other costs of a sentence

  [[nodiscard]] double setup_ms() const { return target_encoder_ms + drafter_encoder_ms + fixed_ms; }
  [[nodiscard]] double sentence_ms(double iterations) const { return setup_ms() + iterations * (draft_ms + verify_ms); }
  /// Time if the drafts are the output, without verification.
  [[nodiscard]] double drafter_alone_ms(double iterations) const { return drafter_encoder_ms + iterations * draft_ms; }
};

/// The module profile of [Xia2022, Table 18] for translations with 3.1 iterations on average (its Table 1,
/// "high-efficiency"): drafting and verification per iteration, encoders and "Others" per sentence.
[[nodiscard]] BlockLatency specdec_profile();

/// Time of the same sentence with beam search: the profile's total times the printed speedup, 4.5.
[[nodiscard]] double specdec_beam_ms();

/// Mean tokens of a translation: Tok times iterations in [Xia2022, Table 5] (vanilla, NAT-base).
[[nodiscard]] double specdec_mean_tokens();

/// The i.i.d. acceptance that yields these tokens per iteration, for blocks of `block` drafts without a bonus token and
/// sentences of specdec_mean_tokens().
[[nodiscard]] double specdec_alpha(double tokens_per_iteration, std::int64_t block);
[[nodiscard]] double specdec_tokens(double alpha, std::int64_t block);

// ---- Fewer and faster calls of a verification kernel. [Wagner2024] A gain is the saved fraction of a time, 1 - after
// / before.

/// Total gain if each call has `call_gain` and the number of calls is multiplied by `call_ratio`.
[[nodiscard]] double total_gain(double call_gain, double call_ratio);

/// Inverse of total_gain: the ratio of numbers of calls that gives both gains. `call_gain` < 1.
[[nodiscard]] double implied_call_ratio(double total_gain, double call_gain);

}  // namespace foredraft::experiments
