// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/verification_rule.hpp"
#include "gpu_bench/verify/verification.hpp"

/// Rules that judge a draft only by the target's row, and their parameters. After a rejected draft and after the last
/// accepted one they emit the target's most probable token, the lowest of tied ones. They do not use the drafter's
/// logits, so their lower bound is the target's rows, once each: (gamma + 1) V s bytes per request.
namespace foredraft::gpu_bench {

// TopBeta is Spec-Verification [Xia2023, Eq. 8-10] by the target's likelihoods: a draft is accepted if fewer than
// `top_beta` tokens have a larger logit and its own is at most `tolerance` (nat) below the largest. With top_beta = 1
// or tolerance = 0 the rule is greedy matching: only the first of tied tokens is accepted. A logit of -inf never is.
// TypicalAcceptance [Cai2024] accepts a draft if p(x) > min(epsilon, delta exp(-H)), H the entropy of p in nat.

/// Throw DomainError: top_beta >= 1, not judged by the drafter, tolerance >= 0; 0 < epsilon < 1, delta >= 0; all
/// finite.
void check_rule(const TopBeta& rule);
void check_rule(const TypicalAcceptance& rule);

/// rule.delta, or sqrt(epsilon) if that is 0.
[[nodiscard]] double delta_of(const TypicalAcceptance& rule);

// ---- One row of logits as the references see it; see verification.hpp for invalid logits.

struct ReferenceRow {
  explicit ReferenceRow(std::span<const double> stored);

  std::vector<double> logits;  ///< after cleaning
  std::vector<double> logs;    ///< logarithms of the probabilities; -inf for all if no logit is finite
  std::size_t top;             ///< first of the largest
  bool empty;                  ///< nothing is finite
  bool fault;                  ///< NaN or +inf is in it, or nothing finite
};

struct ReferenceDraw {
  std::int32_t token;
  double margin;  ///< distance of the draw from the next token's interval
};

/// The token that `uniform` selects by inverse CDF over ascending tokens; token 0 if all weights are 0.
[[nodiscard]] ReferenceDraw reference_draw(const std::vector<double>& weights, double uniform);

/// The same from the probabilities of a row.
[[nodiscard]] ReferenceDraw reference_draw(const ReferenceRow& row, double uniform);

// ---- The required output of a verifier, in double precision from the same logits and draws, one request at a time.

/// Logits of one request, as they are stored, row after row.
struct ReferenceRequest {
  std::span<const double> target_logits;  ///< [drafts + 1, vocabulary]
  std::span<const double> draft_logits;   ///< [drafts, vocabulary]
  std::span<const std::int32_t> drafts;
  std::int64_t vocabulary;
  DrawStream draws;
  unsigned request;  ///< position in the batch: identifies its draws
};

struct ReferenceTokens {
  std::vector<std::int32_t> tokens;  ///< accepted drafts and the token after them
  bool fault;                        ///< of any row of the request's drafts, tested or not
  /// Distance of the nearest decision from its opposite, as a probability: kernels in single precision may differ if
  /// this is below their rounding.
  double margin;
};

/// Rejection sampling [Leviathan2023, Alg. 1]: accepts drafts while u < p/q, then samples from max(0, p - q) by inverse
/// CDF over ascending tokens, or from p after the last draft. Draws: (accept, position), (replacement, position) and
/// (bonus_token, drafts).
[[nodiscard]] ReferenceTokens reference_rejection_sampling(const ReferenceRequest& request);

// ---- The same for the rules that use only the target's rows. The margin covers decisions that rounding can change: a
// comparison of two stored logits is exact, and if nothing else decides the margin is infinite.

/// Accepts drafts while they are the target's most probable token, then emits that token [Stern2018].
[[nodiscard]] ReferenceTokens reference_greedy_match(const ReferenceRequest& request);

/// Margin: the gap's distance from the tolerance, times the probability of the draft.
[[nodiscard]] ReferenceTokens reference_top_beta(const ReferenceRequest& request, const TopBeta& rule);

/// Margin: the distance of the draft's probability from the threshold.
[[nodiscard]] ReferenceTokens reference_typical_acceptance(const ReferenceRequest& request,
                                                           const TypicalAcceptance& rule);

/// Structure of a tree of drafted nodes, the same for every request of a batch. Node 0 is the root: the text so far,
/// without a token of its own.
class TreeShape {
 public:
  static constexpr std::int64_t max_nodes = 1023;

  /// `parents[i]` is the parent of node i + 1. Throws DomainError for a parent that is not an earlier node, and for
  /// more than max_nodes.
  explicit TreeShape(std::span<const std::int32_t> parents);

  /// Number of drafted nodes, without the root.
  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(parents_.size()); }
  /// Number of drafted nodes on the longest path.
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] std::span<const std::int32_t> parents() const { return parents_; }

  /// For each node including the root; no_node if there is none. Siblings have ascending numbers.
  [[nodiscard]] std::span<const std::int32_t> first_children() const { return first_children_; }
  [[nodiscard]] std::span<const std::int32_t> next_siblings() const { return next_siblings_; }

 private:
  std::vector<std::int32_t> parents_;
  std::vector<std::int32_t> first_children_;
  std::vector<std::int32_t> next_siblings_;
  std::int64_t depth_ = 0;
};

inline constexpr std::int32_t no_node = -1;

/// The tree in which the parent of node i + 1 is node i / 2, for i below `nodes`.
[[nodiscard]] TreeShape binary_tree(std::int64_t nodes);

/// A drafted tree of one request.
struct ReferenceTree {
  std::span<const double> target_logits;      ///< [nodes + 1, vocabulary]
  std::span<const std::int32_t> node_tokens;  ///< [nodes + 1]
  std::span<const std::int32_t> parents;      ///< [nodes], of node i + 1
  std::int64_t vocabulary;
  DrawStream draws;
  unsigned request;
};

/// Walks from the root to the child with the most probable token, while there is one; then emits that token.
[[nodiscard]] ReferenceTokens reference_tree_greedy(const ReferenceTree& tree);

/// The same with a token sampled from the target at each node, by inverse CDF over ascending tokens with draw
/// (replacement, node). Margin: the distance of the draw from the nearer end of the token's interval.
[[nodiscard]] ReferenceTokens reference_tree_sampled(const ReferenceTree& tree);

}  // namespace foredraft::gpu_bench
