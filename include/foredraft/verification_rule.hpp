// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#pragma GCC visibility push(default)

/// Verification rules, in token fidelity.
namespace foredraft {

/// Accepts every draft: the control that shows the effect of a wrong rule.
struct AcceptAll {};
/// Verifies the drafts of an iteration together and accepts the longest prefix that passes. [Sun2025]
struct BlockVerification {};
/// Accepts a draft if it is the target's most probable token.
struct GreedyMatch {};
/// Accepts with probability min(1, p / (l q)).
struct Lenient {
  double lenience = 0.5;  ///< l in (0, 1]
  bool residual = true;   ///< after a rejection, draw from max(0, p - l q); false: from max(0, p - q)
};
/// Several candidates per position, tried by recursive rejection sampling.
struct MultiCandidate {
  std::int64_t candidates = 2;  ///< 1 to 1024
  bool replacement = true;      ///< candidates are drawn with replacement
};
/// Accepts with probability min(1, p / q), else draws from max(0, p - q). [Leviathan2023; Chen2023]
struct RejectionSampling {};
/// Rejection sampling on sigmoids instead of softmaxes, with floating-point numbers of `bits` bits. [Wagner2024]
struct SigmoidApproximation {
  double scale_low = -10.0;
  double scale_high = 10.0;
  double logit_shift = 0.0;
  std::int64_t bits = 64;  ///< 16, 32 or 64
};
/// Accepts one of the target's `top_beta` best tokens that is at most `tolerance` less likely than the best. [Xia2023]
struct TopBeta {
  std::int64_t top_beta = 3;
  double tolerance = 1.0;  ///< nat
  bool judged = false;     ///< likelihoods are the drafter's, as first published; false: the target's
};
/// Accepts a token that is likely enough for the entropy of its distribution. [Cai2024]
struct TypicalAcceptance {
  double epsilon = 0.09;
  double delta = 0.0;  ///< 0: sqrt(epsilon)
};

using Rule = std::variant<AcceptAll, BlockVerification, GreedyMatch, Lenient, MultiCandidate, RejectionSampling,
                          SigmoidApproximation, TopBeta, TypicalAcceptance>;

}  // namespace foredraft

#pragma GCC visibility pop
