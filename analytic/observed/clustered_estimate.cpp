// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/clustered_estimate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr double without_limit = std::numeric_limits<double>::infinity();
/// Scatter below it is rounding.
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

double degrees_of(double effective_clusters) { return std::max(1.0, effective_clusters - 1.0); }

/// Batch means of groups of `size` neighbors; an incomplete group joins the last one.
Uncertainty scatter_of(const ErrorSource& source, std::size_t size) {
  const std::size_t groups = source.influence.size() / size;
  double squares = 0.0;
  for (std::size_t group = 0; group < groups; ++group) {
    double influence = 0.0;
    const std::size_t end = group + 1 == groups ? source.influence.size() : (group + 1) * size;
    for (std::size_t i = group * size; i < end; ++i) influence += source.influence[i];
    squares += influence * influence;
  }
  const double clusters = std::max(min_effective_clusters, source.effective_clusters / static_cast<double>(size));
  return {std::sqrt(squares * clusters / (clusters - 1.0)), degrees_of(clusters)};
}

Uncertainty uncertainty_of_source(const ErrorSource& source) {
  constexpr double min_groups = 8.0;
  if (source.assumed) return {std::abs(source.influence.front()), without_limit};
  Uncertainty widest = scatter_of(source, 1);
  for (std::size_t size = 2; source.in_time && source.effective_clusters >= min_groups * static_cast<double>(size);
       size *= 2) {
    const Uncertainty grouped = scatter_of(source, size);
    const auto width = [](const Uncertainty& one) { return one.standard_error * student_quantile(0.95, one.degrees); };
    if (width(grouped) > width(widest)) widest = grouped;
  }
  return widest;
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
                     .assumed = false,
                     .in_time = set.in_time,
                     .effective_clusters = bottom * bottom / squares,
                     .influence = {}};
  double scatter = 0.0;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    source.influence.push_back((tops[i] - ratio * bottoms[i]) / bottom);
    scatter += source.influence.back() * source.influence.back();
  }
  const bool scatters = std::sqrt(scatter) > no_scatter * std::abs(ratio);
  if (!scatters || source.effective_clusters < min_effective_clusters) {
    source = {.id = 2 * set.run + 1,
              .assumed = true,
              .in_time = false,
              .effective_clusters = 1.0,
              .influence = {assumed_share * std::abs(ratio)}};
  }
  return {.value = ratio, .sources = {std::move(source)}};
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

Uncertainty uncertainty_of(const ClusteredEstimate& estimate) {
  double variance = 0.0;
  double by_degrees = 0.0;
  for (const ErrorSource& source : estimate.sources) {
    const Uncertainty one = uncertainty_of_source(source);
    const double square = one.standard_error * one.standard_error;
    variance += square;
    by_degrees += square * square / one.degrees;
  }
  const double degrees = by_degrees > 0.0 ? variance * variance / by_degrees : without_limit;
  return {std::sqrt(variance), degrees};
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
                     [](const ErrorSource& source) { return source.assumed; });
}

}  // namespace foredraft::analytic
