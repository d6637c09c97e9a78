// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// Estimates with standard errors from the scatter of clusters. Clusters are requests or windows of a log, because
/// tokens within one are not independent. Derivation D27 in docs/model.md.
namespace foredraft::analytic {

/// Describes the clusters of a ratio.
struct ClusterSet {
  std::size_t clusters;  ///< id; ratios with the same id have the same clusters in the same order and are paired
  std::size_t run;       ///< number of the run that counted them
  bool in_time;          ///< clusters are consecutive windows: neighbors may depend on each other
};

/// Origin of a part of an error. If it is not scatter, `influence` has a single entry, the standard error.
enum class ErrorOrigin {
  scatter,  ///< of clusters
  stated,   ///< known, such as counting or rounding errors
  assumed,  ///< unknown; used in choices, not reported
};

/// One independent part of an error.
struct ErrorSource {
  std::size_t id;  ///< parts with the same id have the same clusters
  ErrorOrigin origin;
  bool in_time;                   ///< as in ClusterSet
  double effective_clusters;      ///< (sum of sizes)^2 / sum of squared sizes [Kish1965]: n for n equal ones
  std::vector<double> influence;  ///< [i]: first-order change of the value by cluster i; 0 if it does not contribute
};

struct ClusteredEstimate {
  double value;
  std::vector<ErrorSource> sources;
};

/// Minimum number of effective clusters to estimate their scatter.
inline constexpr double min_effective_clusters = 1.5;

/// Relative standard error if all clusters have the same ratio: that of rounding in the log.
inline constexpr double rounding_share = 0.001;

/// A value with a known standard error. `run`: as in ClusterSet.
[[nodiscard]] ClusteredEstimate stated_estimate(double value, double standard_error, std::size_t run);

/// Ratio of totals: sum of `tops` / sum of `bottoms`, one entry per cluster, with the linearized error [Cochran1977].
/// With fewer than min_effective_clusters effective clusters, or fewer than 4 that all have the same ratio, the error
/// is assumed to be `assumed_share` of the value. With 4 or more that all have the same ratio it is stated as
/// rounding_share of the value. Throws DomainError unless all entries are finite, bottoms >= 0, their sum > 0 and both
/// spans of equal length.
[[nodiscard]] ClusteredEstimate ratio_of_totals(std::span<const double> tops, std::span<const double> bottoms,
                                                const ClusterSet& set, double assumed_share);

struct Term {
  const ClusteredEstimate& estimate;
  double slope;  ///< derivative of the combined value with respect to this estimate
};

/// A function `value` of the estimates of `terms`, linearized (delta method). Errors of the same clusters are added
/// cluster by cluster, so runs with the same requests are paired; all others are independent.
[[nodiscard]] ClusteredEstimate combined(double value, std::span<const Term> terms);

/// one - other, and the logarithm of one / other (both > 0).
[[nodiscard]] ClusteredEstimate difference_of(const ClusteredEstimate& one, const ClusteredEstimate& other);
[[nodiscard]] ClusteredEstimate log_ratio_of(const ClusteredEstimate& one, const ClusteredEstimate& other);

/// A standard error and its degrees of freedom, which are at least 1 and infinite unless the error is scatter.
struct Uncertainty {
  double standard_error;
  double degrees;
};

/// Standard error of the sum of the clusters' deviations from their mean, which themselves sum to 0.
/// `effective_clusters` n, at least min_effective_clusters, have n - 1 degrees of freedom, at least 1. For windows
/// (`in_time`), first-order autoregression widens the error. The same is done for sums of 2, 4, ... neighbors, as long
/// as at least 20 sums remain, and the widest interval is used. Windows with a deviation of exactly 0 are left out.
/// `independent_variance`: part of the sum's variance that is known to be independent between windows, such as counting
/// noise. Derivation D27.
[[nodiscard]] Uncertainty scatter_of(std::span<const double> deviations, double effective_clusters, bool in_time,
                                     double independent_variance = 0.0);

/// Standard error of one source: scatter_of() for its influences, or the stated or assumed one.
[[nodiscard]] Uncertainty uncertainty_of(const ErrorSource& source);

/// Standard error of an estimate. Several sources are combined by [Satterthwaite1946].
[[nodiscard]] Uncertainty uncertainty_of(const ClusteredEstimate& estimate);

/// value +- Student quantile of `level` times the standard error.
[[nodiscard]] Interval interval_of(const ClusteredEstimate& estimate, double level = 0.95);

/// Minimum detectable change: the smallest true change whose 95 % interval excludes 0 with probability 0.8. It is the
/// standard error times the sum of the quantiles of 0.975 and 0.8, 2.8 standard errors for many clusters [Bloom1995].
[[nodiscard]] double smallest_detectable(const Uncertainty& uncertainty);

/// True if any part of the error is assumed.
[[nodiscard]] bool is_assumed(const ClusteredEstimate& estimate);

}  // namespace foredraft::analytic
