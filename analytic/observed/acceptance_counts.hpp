// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

}  // namespace foredraft::analytic
