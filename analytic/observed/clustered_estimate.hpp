// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// Estimates with standard errors from the scatter of clusters: the tokens of one request depend on each other, and so
/// do those of one window of a log. Derivation D27 in docs/model.md.
namespace foredraft::analytic {

/// The clusters of a ratio.
struct ClusterSet {
  std::size_t clusters;  ///< equal ids: the same clusters in the same order (the same requests), which are paired
  std::size_t run;       ///< the run that counted them; each run has its own number
  bool in_time;          ///< clusters are consecutive windows: neighbors may depend on each other
};

/// Where a part of an error comes from. Not from scatter: a single entry of `influence`, its standard error.
enum class ErrorOrigin {
  scatter,  ///< of clusters
  stated,   ///< known otherwise: of counts, of rounding
  assumed,  ///< not known; to choose with, not to report
};

/// One independent part of an error.
struct ErrorSource {
  std::size_t id;  ///< parts with the same id have the same clusters
  ErrorOrigin origin;
  bool in_time;               ///< as in ClusterSet
  double effective_clusters;  ///< (sum of sizes)^2 / sum of squared sizes [Kish1965]: n for n equal ones
  std::vector<double>
      influence;  ///< [i]: change of the value by cluster i, to first order; 0 if it does not contribute
};

struct ClusteredEstimate {
  double value;
  std::vector<ErrorSource> sources;
};

/// Minimum number of effective clusters to estimate their scatter.
inline constexpr double min_effective_clusters = 1.5;

/// Relative standard error of clusters that agree in all printed digits.
inline constexpr double rounding_share = 0.001;

/// A value whose standard error is known otherwise. `run`: as in ClusterSet.
[[nodiscard]] ClusteredEstimate stated_estimate(double value, double standard_error, std::size_t run);

/// Ratio of totals: sum of `tops` / sum of `bottoms`, one entry per cluster, with the linearized error [Cochran1977].
/// With fewer than min_effective_clusters it is assumed as `assumed_share` of the value, also if up to three do not
/// differ; if more do not differ, rounding_share of it is stated. Throws DomainError unless all are finite, bottoms >=
/// 0, their sum > 0 and both of equal length.
[[nodiscard]] ClusteredEstimate ratio_of_totals(std::span<const double> tops, std::span<const double> bottoms,
                                                const ClusterSet& set, double assumed_share);

struct Term {
  const ClusteredEstimate& estimate;
  double slope;  ///< derivative of the combined value with respect to this one
};

/// A function `value` of the estimates of `terms`, linearized (delta method). Errors of the same clusters are added
/// cluster by cluster, which pairs runs with the same requests; all others are independent.
[[nodiscard]] ClusteredEstimate combined(double value, std::span<const Term> terms);

/// one - other, and the logarithm of one / other (both > 0).
[[nodiscard]] ClusteredEstimate difference_of(const ClusteredEstimate& one, const ClusteredEstimate& other);
[[nodiscard]] ClusteredEstimate log_ratio_of(const ClusteredEstimate& one, const ClusteredEstimate& other);

/// A standard error and its degrees of freedom: infinite if it is not from scatter, else at least 1.
struct Uncertainty {
  double standard_error;
  double degrees;
};

/// Standard error of the sum of the clusters' deviations from their mean, which themselves sum to 0.
/// `effective_clusters` n, at least min_effective_clusters, have n - 1 degrees of freedom. Where they are windows
/// (`in_time`), first-order autoregression widens the error, moderated by a prior: the maximum interval over groups of
/// 1, 2, 4, ... neighbors, as long as 20 groups remain. Clusters that deviate by exactly 0 are left out of the
/// correlation. `independent_variance`: what of the sum's variance is known to be independent from window to window,
/// such as that of counting. Derivation D27.
[[nodiscard]] Uncertainty scatter_of(std::span<const double> deviations, double effective_clusters, bool in_time,
                                     double independent_variance = 0.0);

/// Standard error of one source: scatter_of its influences, else the given one.
[[nodiscard]] Uncertainty uncertainty_of(const ErrorSource& source);

/// Standard error of an estimate. Several sources are combined by [Satterthwaite1946].
[[nodiscard]] Uncertainty uncertainty_of(const ClusteredEstimate& estimate);

/// value +- Student quantile of `level` times the standard error.
[[nodiscard]] Interval interval_of(const ClusteredEstimate& estimate, double level = 0.95);

/// Minimum detectable change: the smallest true change that a 95 % interval excludes 0 for with probability 0.8. The
/// sum of the quantiles of 0.975 and 0.8 times the standard error, 2.8 standard errors for many clusters [Bloom1995].
[[nodiscard]] double smallest_detectable(const Uncertainty& uncertainty);

/// Whether any part of the error is assumed.
[[nodiscard]] bool is_assumed(const ClusteredEstimate& estimate);

}  // namespace foredraft::analytic
