// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// A synthetic model of the rank of a drafted token among the target's most probable ones, for rules that accept more
/// than the most probable token. Its three parameters are fitted.
///
/// The target's log-probabilities, best first, decrease by spread * E_r / r from rank r to the next, with independent
/// standard exponentials E_r, like the largest of many logits with exponential tails. The drafter adds Gumbel noise of
/// scale `noise` and takes the maximum, so it drafts rank r with probability proportional to exp(-gap_r / noise). A
/// fraction `unlike` of the drafts is outside these ranks and is never accepted.
namespace foredraft::experiments {

struct LogitLadder {
  double spread;  ///< scale of the target's logits, in nats, > 0
  double noise;   ///< noise of the drafter, in nats, > 0
  double unlike;  ///< fraction of drafts that are never accepted, in [0, 1]
};

/// Accepts a draft among the target's `top_beta` best tokens whose log-probability is at most `tolerance` below the
/// best. top_beta = 1 or tolerance = 0: only the best. [Xia2023, Eq. 8-10]
struct TopBetaRule {
  std::int64_t top_beta;
  double tolerance;
};

/// Contexts drawn once, so that acceptance is reproducible and never decreases with top_beta or tolerance.
class LadderContexts {
 public:
  /// Draws `contexts` >= 1 contexts of `ranks` >= 1 tokens; drafts have one of these ranks.
  LadderContexts(std::int64_t contexts, std::int64_t ranks, std::uint64_t seed);

  /// Mean over the contexts of the probability that a draft is accepted. top_beta in 1 to ranks, tolerance >= 0.
  [[nodiscard]] double acceptance(const LogitLadder& ladder, const TopBetaRule& rule) const;

 private:
  std::size_t ranks_;
  std::vector<double> gaps_;  ///< contexts x ranks, for spread 1
};

}  // namespace foredraft::experiments
