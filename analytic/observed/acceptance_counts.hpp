// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "foredraft/acceptance.hpp"

/// Acceptance counts of logs, pooled by draft length.
namespace foredraft::analytic {

/// A cluster of verification steps: a window of a log, or a request. All steps have `gamma` drafts and a bonus token.
struct AcceptanceCluster {
  std::int64_t gamma;               ///< 1 to max_observed_gamma
  double steps;                     ///< verification steps, > 0; need not be an integer if a log rounds
  std::vector<double> accepted_at;  ///< [i]: steps whose first i + 1 drafts were all accepted; empty: not logged
  double accepted_tokens = 0.0;     ///< accepted drafts; used only if accepted_at is empty
  double rounding = 0.0;            ///< half width of the rounding error of each accepted_at / steps
  bool in_time = true;              ///< clusters are consecutive windows: neighbors may depend on each other
};

/// The pooled counts of all clusters of one gamma.
struct PooledCounts {
  std::int64_t gamma;
  double steps;
  std::vector<double> marginal;  ///< [i]: fraction of steps whose first i + 1 drafts were all accepted; may be empty
  double accepted;               ///< accepted drafts per step: tokens per iteration minus 1
  double rounding;               ///< half width of the rounding error of a marginal
  std::size_t clusters;
};

/// Throws DomainError unless every count is finite and in range: steps > 0, 0 <= accepted_at <= steps (within the
/// rounding), accepted_tokens in [0, gamma * steps], accepted_at empty or of gamma entries.
void check_counts(std::span<const AcceptanceCluster> clusters);

/// Counts pooled by gamma, ascending. Marginals come from the clusters that have them. If other clusters of that gamma
/// have none, all marginals are raised to the power at which their sum equals the accepted drafts per step of all
/// clusters; they are empty if there is no such power.
[[nodiscard]] std::vector<PooledCounts> pooled_by_gamma(std::span<const AcceptanceCluster> clusters);

/// Variance of the accepted drafts of one step: from the marginals, or without them the maximum for this mean.
[[nodiscard]] double variance_of_a_step(const PooledCounts& counts);

/// Variance inflation: the variance of accepted drafts per step estimated from clusters (scatter_of), divided by the
/// variance of independent steps. The mean over gammas, weighted by clusters minus 1; at least 1. If some gamma has
/// five windows (`in_time`) or more, moderated by a prior of 1.5 with 4 degrees of freedom (D27). nullopt if no gamma
/// has two clusters.
struct ClusterVariance {
  double factor;   ///< >= 1
  double degrees;  ///< degrees of freedom of the estimate [Satterthwaite1946]
};
[[nodiscard]] std::optional<ClusterVariance> cluster_variance(std::span<const AcceptanceCluster> clusters);

// ---- Acceptance in runs: the model that is fitted to the counts of a log. Derivation D23 in docs/model.md.

/// Maximum gamma of the run model.
inline constexpr std::int64_t max_observed_gamma = max_runs_gamma;

/// [i]: long-run fraction of the iterations whose first i + 1 of `gamma` drafts are all accepted, gamma in 0 to
/// max_observed_gamma, with a bonus token. NaN for a = 1, b = 0 (two absorbing states).
[[nodiscard]] std::vector<double> accepted_shares(const Runs& acceptance, std::int64_t gamma);

/// Tokens per iteration: 1 + the sum of accepted_shares.
[[nodiscard]] double tokens_per_iteration(const Runs& acceptance, std::int64_t gamma);

/// Bounds of the tokens per iteration at another gamma under any stationary acceptance process, given `tokens` in [1,
/// observed_gamma + 1] at `observed_gamma` >= 1. A longer draft never yields fewer tokens, and n' positions never yield
/// more than ceil(n'/n) iterations of n positions.
[[nodiscard]] TokenBounds tokens_left_open(double tokens, std::int64_t observed_gamma, std::int64_t gamma);

}  // namespace foredraft::analytic
