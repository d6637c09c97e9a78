// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

/// Verification rules, in token fidelity.
namespace foredraft {

/// Accepts every draft: the control that shows the effect of a wrong rule.
struct AcceptAll {};
/// Verifies the drafts of an iteration together and accepts the longest prefix that passes. [Sun2025]
struct BlockVerification {};
/// Speculative cascade: applies rejection sampling if the drafter's best token has a probability below 1 - margin, else
/// accepts the draft. [Narasimhan2025, Eq. 2]
struct CascadeChow {
  double margin = 0.5;
};
/// Speculative cascade: applies rejection sampling if the probability of the drafter's best token is below that of the
/// target's best token by more than the margin, else accepts the draft. [Narasimhan2025, Eq. 5]
struct CascadeDiff {
  double margin = 0.5;
};
/// CascadeDiff with the margin multiplied by the total variation of p and q. [Narasimhan2025, Eq. 10]
struct CascadeOpt {
  double margin = 0.5;
};
/// Accepts a draft if it is the target's most probable token.
struct GreedyMatch {};
/// Several candidates per position, each accepted with probability min(1, p / (rho q)), where rho is the smallest
/// lossless value. [Sun2023, Alg. 2]
struct KSeq {
  std::int64_t candidates = 2;  ///< 1 to 1024
};
/// Accepts with probability min(1, p / (l q)).
struct Lenient {
  double lenience = 0.5;  ///< l in (0, 1]
  bool residual = true;   ///< after a rejection, draw from max(0, p - l q); false: from max(0, p - q)
};
/// Several candidates per position, tried by recursive rejection sampling. In a tree of drafts, they are the children
/// of a node.
struct MultiCandidate {
  std::int64_t candidates = 2;  ///< 1 to 1024
  bool replacement = true;      ///< candidates are drawn with replacement
  /// [d - 1]: candidates of the d-th draft, whole numbers from 1 to 1024; drafts beyond the list have `candidates`
  std::vector<double> widths = {};
};
/// Accepts with probability min(1, p / q), else draws from max(0, p - q). [Leviathan2023; Chen2023]
struct RejectionSampling {};
/// Accepts with probability 1 if p >= threshold_single, else with probability min(1, p / threshold_acc), regardless of
/// q, as SGLang does.
struct SglangThresholds {
  double threshold_single = 0.5;  ///< SGLang's default is 1
  double threshold_acc = 1.0;     ///< in (0, 1]; both 1: lossless
};
/// Rejection sampling on sigmoids instead of softmaxes, with floating-point numbers of `bits` bits. [Wagner2024]
struct SigmoidApproximation {
  double scale_low = -10.0;
  double scale_high = 10.0;
  double logit_shift = 0.0;
  std::int64_t bits = 64;  ///< 16, 32 or 64
};
/// Accepts one of the target's `top_beta` best tokens whose log probability is at most `tolerance` below that of the
/// best. [Xia2023]
struct TopBeta {
  std::int64_t top_beta = 3;
  double tolerance = 1.0;  ///< nats
  bool judged = false;  ///< true: tests the drafter's probability of the token, as first published; false: the target's
};
/// Accepts one of the target's `relaxed_topk` best tokens that is at most `relaxed_delta` less probable than the best,
/// as TensorRT-LLM does in thinking phases.
struct TopNDelta {
  std::int64_t relaxed_topk = 10;
  double relaxed_delta = 0.6;
};
/// Accepts a token if its probability exceeds a threshold that decreases with the entropy of the distribution.
/// [Cai2024]
struct TypicalAcceptance {
  double epsilon = 0.09;
  double delta = 0.0;  ///< 0: sqrt(epsilon)
};

using Rule = std::variant<AcceptAll, BlockVerification, CascadeChow, CascadeDiff, CascadeOpt, GreedyMatch, KSeq,
                          Lenient, MultiCandidate, RejectionSampling, SglangThresholds, SigmoidApproximation, TopBeta,
                          TopNDelta, TypicalAcceptance>;

}  // namespace foredraft

#pragma GCC visibility pop
