// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "foredraft/scenario.hpp"

/// What logs count of acceptance, pooled by draft length.
namespace foredraft::analytic {

/// One cluster of verification steps: a window of a log, or a request. All with `gamma` drafts and a bonus token.
struct AcceptanceCounts {
  std::int64_t gamma;               ///< 1 to max_observed_gamma
  double steps;                     ///< verification steps, > 0; need not be whole where a log rounds
  std::vector<double> accepted_at;  ///< [i]: steps whose first i + 1 drafts were all accepted; empty: not logged
  double accepted_tokens = 0.0;     ///< accepted drafts; taken only where accepted_at is empty
  double rounding = 0.0;            ///< half width of what a log's digits leave of each accepted_at / steps
};

/// All clusters of one gamma.
struct PooledCounts {
  std::int64_t gamma;
  double steps;
  std::vector<double> marginal;  ///< [i]: share of steps whose first i + 1 drafts were all accepted; may be empty
  double accepted;               ///< accepted drafts per step: tokens per iteration less 1
  double rounding;               ///< of a marginal: half width
  std::size_t clusters;
};

/// Throws DomainError unless every count is finite and in range: steps > 0, 0 <= accepted_at <= steps (within the
/// rounding), accepted_tokens in [0, gamma * steps], accepted_at empty or of gamma entries.
void check_counts(std::span<const AcceptanceCounts> clusters);

/// By gamma, ascending. Marginals are those of the clusters that have them; where others of that gamma have none, all
/// to the one power that makes them add up to what all clusters accepted.
[[nodiscard]] std::vector<PooledCounts> pooled_by_gamma(std::span<const AcceptanceCounts> clusters);

/// Variance of the accepted drafts of one step: of the marginals, or the largest that `accepted` of `gamma` allow.
[[nodiscard]] double variance_of_a_step(const PooledCounts& counts);

/// The variance of accepted drafts per step as clusters vary, over that of independent steps, at least 1: steps of one
/// request depend on each other. The largest of clusters taken one by one, by twos, by fours and so on, as long as
/// eight groups are left (batch means in the order given: neighbors in time depend too). Nothing with fewer than two
/// clusters of one gamma.
struct ClusterVariance {
  double factor;   ///< >= 1
  double degrees;  ///< degrees of freedom behind it
};
[[nodiscard]] std::optional<ClusterVariance> cluster_variance(std::span<const AcceptanceCounts> clusters);

// ---- Acceptance that comes in runs: the model that is fitted to the counts of a log. Derivation D23 in docs/model.md.

/// Would the draft at a text position be accepted? As `MarkovAcceptance`, with two additions.
///
/// Half of the runs of accepted positions are easy, half are hard: a run continues with probability a+ or a-, the
/// logits of which are logit(a) + spread and logit(a) - spread. Across the bonus token the odds of continuing are rho
/// times those: the next draft starts from fresh features of the target. spread 0 and rho 1 are the Markov chain.
struct RunAcceptance {
  MarkovAcceptance chain;  ///< a: persistence in the middle of both kinds; b: P(accept | previous position rejected)
  double spread = 0.0;     ///< >= 0, finite
  double rho = 1.0;        ///< odds ratio, > 0, finite
};

/// The largest gamma that a run model is asked for.
inline constexpr std::int64_t max_observed_gamma = max_runs_gamma;

/// [i]: long-run share of the iterations whose first i + 1 of `gamma` drafts are all accepted, gamma in 0 to
/// max_observed_gamma, with a bonus token. NaN for a = 1, b = 0 (two closed states).
[[nodiscard]] std::vector<double> accepted_shares(const RunAcceptance& acceptance, std::int64_t gamma);

/// 1 + the sum of accepted_shares. Equals tokens_per_iteration(MarkovAcceptance) for spread 0 and rho 1.
[[nodiscard]] double tokens_per_iteration(const RunAcceptance& acceptance, std::int64_t gamma);

/// The tokens per iteration at another gamma that any stationary acceptance process leaves open, given `tokens` per
/// iteration at `observed_gamma` >= 1: the bounds of any process for every mean acceptance that fits, and
/// monotonicity: a longer draft never yields less, and n' positions never more than ceil(n'/n) iterations of n do.
/// `tokens` in [1, observed_gamma + 1].
[[nodiscard]] TokenBounds tokens_left_open(double tokens, std::int64_t observed_gamma, std::int64_t gamma);

}  // namespace foredraft::analytic
