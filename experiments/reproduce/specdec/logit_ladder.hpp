// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// A synthetic model of the rank of a drafted token among the verifier's most probable ones, for rules that accept
/// more than the most probable token. It has three parameters, to be fitted.
///
/// The verifier's log-probabilities, best first, fall by spread * E_r / r from rank r to the next, E_r independent
/// standard exponentials: the spacings of the largest of many exponential-tailed logits. The drafter sees the same
/// ladder through Gumbel noise of scale `noise` and takes its best, so it drafts rank r with probability proportional
/// to exp(-gap_r / noise). A fraction `unlike` of the drafts is not on the ladder and is never accepted.
namespace foredraft::experiments {

struct LogitLadder {
  double spread;  ///< of the verifier's logits, in nats, > 0
  double noise;   ///< of the drafter, in nats, > 0
  double unlike;  ///< fraction of drafts off the ladder, in [0, 1]
};

/// Accepts a draft among the verifier's `top_beta` best tokens whose log-probability is at most `tolerance` below the
/// best. top_beta = 1 or tolerance = 0: only the best. [Xia2023, Eq. 8-10]
struct TopBetaRule {
  std::int64_t top_beta;
  double tolerance;
};

/// Contexts drawn once, so that acceptance is reproducible and never falls as top_beta or tolerance rises.
class LadderContexts {
 public:
  /// `contexts` >= 1 ladders of `ranks` >= 1 tokens; no draft has a lower rank.
  LadderContexts(std::int64_t contexts, std::int64_t ranks, std::uint64_t seed);

  /// Mean over the contexts of the probability that a draft is accepted. top_beta in 1 to ranks, tolerance >= 0.
  [[nodiscard]] double acceptance(const LogitLadder& ladder, const TopBetaRule& rule) const;

 private:
  std::size_t ranks_;
  std::vector<double> gaps_;  ///< contexts x ranks, at spread 1
};

}  // namespace foredraft::experiments
