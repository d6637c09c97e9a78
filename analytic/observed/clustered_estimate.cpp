// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/clustered_estimate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr double without_limit = std::numeric_limits<double>::infinity();
/// Scatter below this is rounding.
constexpr double no_scatter = 1e-12;

void check_totals(std::span<const double> tops, std::span<const double> bottoms) {
  if (tops.size() != bottoms.size()) {
    throw DomainError(
        fmt::format("invalid clusters ({} tops and {} bottoms: must be equal numbers)", tops.size(), bottoms.size()));
  }
  for (std::size_t i = 0; i < tops.size(); ++i) {
    check_nonnegative("bottom", bottoms[i]);
    if (!std::isfinite(tops[i])) throw DomainError(fmt::format("invalid top={} (must be finite)", tops[i]));
  }
}

/// Sums of `size` neighbors; an incomplete group joins the last one.
std::vector<double> grouped(std::span<const double> deviations, std::size_t size) {
  std::vector<double> groups(deviations.size() / size);
  for (std::size_t i = 0; i < deviations.size(); ++i) groups[std::min(i / size, groups.size() - 1)] += deviations[i];
  return groups;
}

/// Scatter of independent deviations that sum to 0.
Uncertainty independent_scatter(std::span<const double> deviations, double clusters) {
  const double squares = std::inner_product(deviations.begin(), deviations.end(), deviations.begin(), 0.0);
  clusters = std::max(min_effective_clusters, clusters);
  return {std::sqrt(squares * clusters / (clusters - 1.0)), std::max(1.0, clusters - 1.0)};
}

/// Correlation of neighbors from n deviations from their mean, corrected for the bias -(1 + 4 rho)/n of the sample
/// correlation [Marriott1954].
double correlation_of_neighbors(std::span<const double> deviations, double n) {
  if (deviations.empty()) return 0.0;
  const double products = std::inner_product(deviations.begin() + 1, deviations.end(), deviations.begin(), 0.0);
  const double squares = std::inner_product(deviations.begin(), deviations.end(), deviations.begin(), 0.0);
  return (n * products / squares + 1.0) / (n - 4.0);
}

/// Sum of independent variances [Satterthwaite1946].
Uncertainty sum_of(std::span<const Uncertainty> parts) {
  double variance = 0.0;
  double by_degrees = 0.0;
  for (const Uncertainty& one : parts) {
    const double square = one.standard_error * one.standard_error;
    variance += square;
    by_degrees += square * square / one.degrees;
  }
  return {std::sqrt(variance), by_degrees > 0.0 ? variance * variance / by_degrees : without_limit};
}

/// Scatter of deviations that are a first-order autoregression plus independent errors of known variance.
Uncertainty autoregressive_scatter(std::span<const double> deviations, double clusters, double independent_variance) {
  // Five clusters of nearly equal size. Fewer show no correlation, so that the error has one degree of freedom.
  constexpr double min_clusters = 4.5;
  constexpr double max_correlation = 0.95;
  // Fewer would widen intervals several times for a correlation that is itself uncertain.
  constexpr double min_degrees = 3.0;
  // Minimum share of the autoregression in the variance; a smaller one is noise.
  constexpr double min_share = 0.5;
  const Uncertainty all = independent_scatter(deviations, clusters);
  if (clusters < min_clusters) return {all.standard_error, 1.0};
  if (all.standard_error == 0.0) return all;
  const double variance = all.standard_error * all.standard_error;
  const double correlated = std::max(0.0, variance - independent_variance);
  const double share = std::max(min_share, correlated / variance);
  const double rho = std::clamp(correlation_of_neighbors(deviations, clusters) / share, 0.0, max_correlation);
  const double inflation = (1.0 + rho) / (1.0 - rho);
  const Uncertainty parts[] = {{std::sqrt(correlated * inflation), std::max(min_degrees, clusters / inflation - 1.0)},
                               {std::sqrt(variance - correlated), all.degrees}};
  return sum_of(parts);
}

void add_source(const ErrorSource& source, double slope, std::vector<ErrorSource>& sources) {
  const auto same =
      std::find_if(sources.begin(), sources.end(), [&](const ErrorSource& one) { return one.id == source.id; });
  if (same == sources.end()) {
    sources.push_back(source);
    for (double& influence : sources.back().influence) influence *= slope;
    return;
  }
  same->effective_clusters = std::min(same->effective_clusters, source.effective_clusters);
  for (std::size_t i = 0; i < same->influence.size(); ++i) same->influence[i] += slope * source.influence.at(i);
}

ErrorSource single_source(std::size_t run, ErrorOrigin origin, double standard_error) {
  return {
      .id = 2 * run + 1, .origin = origin, .in_time = false, .effective_clusters = 1.0, .influence = {standard_error}};
}

}  // namespace

ClusteredEstimate ratio_of_totals(std::span<const double> tops, std::span<const double> bottoms, const ClusterSet& set,
                                  double assumed_share) {
  check_totals(tops, bottoms);
  double top = 0.0;
  double bottom = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    top += tops[i];
    bottom += bottoms[i];
    squares += bottoms[i] * bottoms[i];
  }
  check_positive("sum of bottoms", bottom);
  const double ratio = top / bottom;
  ErrorSource source{.id = 2 * set.clusters,
                     .origin = ErrorOrigin::scatter,
                     .in_time = set.in_time,
                     .effective_clusters = bottom * bottom / squares,
                     .influence = {}};
  double scatter = 0.0;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    source.influence.push_back((tops[i] - ratio * bottoms[i]) / bottom);
    scatter += source.influence.back() * source.influence.back();
  }
  constexpr double many = 4.0;
  const bool agree = std::sqrt(scatter) <= no_scatter * std::abs(ratio);
  if (agree && source.effective_clusters >= many)
    return stated_estimate(ratio, rounding_share * std::abs(ratio), set.run);
  if (agree || source.effective_clusters < min_effective_clusters) {
    source = single_source(set.run, ErrorOrigin::assumed, assumed_share * std::abs(ratio));
  }
  return {.value = ratio, .sources = {std::move(source)}};
}

ClusteredEstimate stated_estimate(double value, double standard_error, std::size_t run) {
  return {.value = value, .sources = {single_source(run, ErrorOrigin::stated, standard_error)}};
}

ClusteredEstimate combined(double value, std::span<const Term> terms) {
  ClusteredEstimate all{.value = value, .sources = {}};
  for (const Term& term : terms) {
    for (const ErrorSource& source : term.estimate.sources) add_source(source, term.slope, all.sources);
  }
  return all;
}

ClusteredEstimate difference_of(const ClusteredEstimate& one, const ClusteredEstimate& other) {
  const Term terms[] = {{one, 1.0}, {other, -1.0}};
  return combined(one.value - other.value, terms);
}

ClusteredEstimate log_ratio_of(const ClusteredEstimate& one, const ClusteredEstimate& other) {
  check_positive("numerator", one.value);
  check_positive("denominator", other.value);
  const Term terms[] = {{one, 1.0 / one.value}, {other, -1.0 / other.value}};
  return combined(std::log(one.value / other.value), terms);
}

Uncertainty scatter_of(std::span<const double> deviations, double effective_clusters, bool in_time,
                       double independent_variance) {
  constexpr double min_groups = 20.0;
  if (!in_time) return independent_scatter(deviations, effective_clusters);
  std::vector<double> windows;
  std::copy_if(deviations.begin(), deviations.end(), std::back_inserter(windows),
               [](double one) { return one != 0.0; });
  const auto width = [](const Uncertainty& one) { return one.standard_error * student_quantile(0.95, one.degrees); };
  Uncertainty widest = autoregressive_scatter(windows, effective_clusters, independent_variance);
  const double clusters = std::min(effective_clusters, static_cast<double>(windows.size()));
  for (std::size_t size = 2; clusters >= min_groups * static_cast<double>(size); size *= 2) {
    const Uncertainty of_groups = autoregressive_scatter(
        grouped(windows, size), effective_clusters / static_cast<double>(size), independent_variance);
    if (width(of_groups) > width(widest)) widest = of_groups;
  }
  return widest;
}

Uncertainty uncertainty_of(const ErrorSource& source) {
  if (source.origin != ErrorOrigin::scatter) return {std::abs(source.influence.front()), without_limit};
  return scatter_of(source.influence, source.effective_clusters, source.in_time);
}

Uncertainty uncertainty_of(const ClusteredEstimate& estimate) {
  std::vector<Uncertainty> parts;
  for (const ErrorSource& source : estimate.sources) parts.push_back(uncertainty_of(source));
  return sum_of(parts);
}

Interval interval_of(const ClusteredEstimate& estimate, double level) {
  const Uncertainty error = uncertainty_of(estimate);
  const double half = student_quantile(level, error.degrees) * error.standard_error;
  return {estimate.value - half, estimate.value + half};
}

double smallest_detectable(const Uncertainty& uncertainty) {
  constexpr double level = 0.95;
  constexpr double power = 0.8;
  return uncertainty.standard_error *
         (student_quantile(level, uncertainty.degrees) + student_quantile(2.0 * power - 1.0, uncertainty.degrees));
}

bool is_assumed(const ClusteredEstimate& estimate) {
  return std::any_of(estimate.sources.begin(), estimate.sources.end(),
                     [](const ErrorSource& source) { return source.origin == ErrorOrigin::assumed; });
}

}  // namespace foredraft::analytic
