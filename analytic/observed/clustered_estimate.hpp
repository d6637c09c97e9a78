// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// Estimates whose error comes from how clusters scatter: the tokens of one request depend on each other, and so do
/// those of one window of a log. Derivation D27 in docs/model.md.
namespace foredraft::analytic {

/// The clusters behind a ratio.
struct ClusterSet {
  std::size_t clusters;  ///< equal numbers: the same clusters in the same order (the same requests), which are paired
  std::size_t run;       ///< who counted them; each run has its own number
  bool in_time;          ///< clusters are windows in their order: neighbors may depend on each other
};

/// One independent part of an error.
struct ErrorSource {
  std::size_t id;             ///< parts of one id are of the same clusters
  bool assumed;               ///< not from scatter: one entry of `influence`, a standard error
  bool in_time;               ///< as ClusterSet
  double effective_clusters;  ///< (sum of sizes)^2 / sum of squared sizes [Kish1965]: n for n equal ones
  std::vector<double>
      influence;  ///< [i]: by how much cluster i moved the value, to first order; 0: it holds none of it
};

struct ClusteredEstimate {
  double value;
  std::vector<ErrorSource> sources;
};

/// Fewer effective clusters say nothing of their scatter.
inline constexpr double min_effective_clusters = 1.5;

/// Sum of `tops` over sum of `bottoms`, one entry a cluster; both 0 for a cluster that holds neither. The error is the
/// linearized one of the ratio of two totals [Cochran1977]. With fewer than min_effective_clusters, or clusters that do
/// not differ at all, it is `assumed_share` of the value. Throws DomainError unless all entries are finite, bottoms
/// >= 0, their sum > 0 and both of equal number.
[[nodiscard]] ClusteredEstimate ratio_of_totals(std::span<const double> tops, std::span<const double> bottoms,
                                                const ClusterSet& set, double assumed_share);

struct Term {
  const ClusteredEstimate& estimate;
  double slope;  ///< of the combined value in this one
};

/// `value` is a function of the estimates of `terms`, linearized (delta method). Errors of the same clusters add up
/// cluster by cluster, which pairs what holds the same requests; all others are independent.
[[nodiscard]] ClusteredEstimate combined(double value, std::span<const Term> terms);

/// one - other, and the logarithm of one / other (both > 0).
[[nodiscard]] ClusteredEstimate difference_of(const ClusteredEstimate& one, const ClusteredEstimate& other);
[[nodiscard]] ClusteredEstimate log_ratio_of(const ClusteredEstimate& one, const ClusteredEstimate& other);

/// A standard error and the degrees of freedom behind it: infinity where it is assumed, else at least 1.
struct Uncertainty {
  double standard_error;
  double degrees;
};

/// Of n clusters: n - 1 degrees of freedom, n the effective number. Of windows the widest interval of those taken one
/// by one, by twos, by fours and so on, as long as eight groups are left (batch means). Of several sources
/// [Satterthwaite1946].
[[nodiscard]] Uncertainty uncertainty_of(const ClusteredEstimate& estimate);

/// value +- Student quantile of `level` times the standard error.
[[nodiscard]] Interval interval_of(const ClusteredEstimate& estimate, double level = 0.95);

/// The smallest true change that an interval of 95 % would have shown not to be 0 with probability 0.8: the sum of the
/// quantiles of 0.975 and 0.8 times the standard error, 2.8 standard errors for many clusters [Bloom1995].
[[nodiscard]] double smallest_detectable(const Uncertainty& uncertainty);

/// Whether any part of the error is assumed.
[[nodiscard]] bool is_assumed(const ClusteredEstimate& estimate);

}  // namespace foredraft::analytic
