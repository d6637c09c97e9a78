// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"
#include "answers/run_cost.hpp"
#include "answers/runs.hpp"
#include "core/intervals.hpp"

/// What was measured of one run, for advice and for comparisons alike: ratios of totals, with errors from the scatter
/// of its requests or windows.
namespace foredraft::answers {

/// The metrics that a run may have; in addition acceptance by position as "marginal[1]", "marginal[2]", ...
struct MetricEntry {
  std::string_view name;   ///< in --require and JSON
  std::string_view title;  ///< in tables
  bool more_is_better;
};
[[nodiscard]] std::span<const MetricEntry> metric_entries();

/// The entry of a metric, also of a marginal. Precondition: the metric exists.
[[nodiscard]] MetricEntry metric_entry(std::string_view name);

/// Whether a metric has this name.
[[nodiscard]] bool is_metric(std::string_view name);

/// "marginal[3]": fraction of verification steps whose first 3 drafts were all accepted.
[[nodiscard]] std::string marginal_name(std::size_t position);

struct MeasuredMetric {
  std::string metric;
  analytic::ClusteredEstimate estimate;
  logs::Span span;       ///< kind of the clusters
  std::size_t clusters;  ///< with the metric
};

struct RunEstimates {
  std::string log;   ///< "A", "B" or "plain"; empty: none
  std::string name;  ///< "A, K = 3, 64 requests"
  Run run;
  std::vector<MeasuredMetric> measured;        ///< in the order of metric_entries(), then marginals
  std::map<std::string, std::string> unknown;  ///< metric and why it is not known
  /// Output tokens/s, even if they are only the arrival rate: at a stated request rate that the server keeps up with.
  std::optional<analytic::ClusteredEstimate> throughput = {};

  /// The estimate of a metric; nullptr: not known.
  [[nodiscard]] const analytic::ClusteredEstimate* estimate(std::string_view metric) const;
  [[nodiscard]] const MeasuredMetric* find(std::string_view metric) const;
};

/// The 95 % interval of a reported value; NaN if its error is assumed, and so unknown.
[[nodiscard]] Interval known_interval(const analytic::ClusteredEstimate& estimate);

/// Identifies sets of clusters: runs with the same requests, by name, get the same number.
class ClusterRegistry {
 public:
  /// `names`: of requests, in order, each once. Empty: clusters without names, of one run only.
  [[nodiscard]] std::size_t number_of(const std::vector<std::string>& names);

 private:
  std::map<std::vector<std::string>, std::size_t> known_ = {};
  std::size_t next_ = 0;
};

/// All metrics except the speedup. The clusters are the finest of requests, windows and whole runs with a metric. A
/// counter by which every draft was accepted gives no acceptance. TPOT and iteration time are those of decoding one
/// request: total time over total tokens. `log`: RunEstimates::log.
[[nodiscard]] RunEstimates estimates_of(const Run& run, std::string_view log, ClusterRegistry& registry);

/// Time per token of two runs, as one may be compared with the other.
struct Paces {
  analytic::ClusteredEstimate reference, run;  ///< TPOT in ms, or s per output token of the whole server
  bool by_capacity;  ///< one of them does not keep up with the stated request rate: output tokens/s are compared
};
/// nullopt: one has no times, or they have only throughputs at a request rate that both keep up with.
[[nodiscard]] std::optional<Paces> paces_of(const RunEstimates& reference, const RunEstimates& run);

/// Time per token of `reference` divided by that of `run`.
[[nodiscard]] analytic::ClusteredEstimate speedup_of(const Paces& paces);

/// Cost of a million output tokens; nullopt: there is no run, or its throughput is not known or the arrival rate.
[[nodiscard]] std::optional<double> cost_of(const GpuPrice& price, const RunEstimates* run);

/// Adds the metric speedup over a run without speculation, or why it is not known.
void add_speedup(const RunEstimates& plain, RunEstimates& run);

}  // namespace foredraft::answers
