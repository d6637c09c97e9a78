// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"
#include "experiments/runs/runs.hpp"

/// Measurements of one run, with errors from the scatter of its requests or windows.
namespace foredraft::experiments {

/// The metrics that a run may have; in addition acceptance by position as "marginal[1]", "marginal[2]", ...
struct MetricEntry {
  std::string_view name;   ///< in --require and JSON
  std::string_view title;  ///< in tables
  bool more_is_better;
};
[[nodiscard]] std::span<const MetricEntry> metric_entries();

/// The entry of a metric, also of a marginal. Precondition: the metric exists.
[[nodiscard]] MetricEntry metric_entry(std::string_view name);

/// "marginal[3]": fraction of verification steps whose first 3 drafts were all accepted.
[[nodiscard]] std::string marginal_name(std::size_t position);

struct MeasuredMetric {
  std::string metric;
  analytic::ClusteredEstimate estimate;
  logs::Span span;       ///< kind of the clusters
  std::size_t clusters;  ///< with the metric
};

struct RunEstimates {
  std::string log;   ///< "A" or "B"
  std::string name;  ///< "A, K = 3, 64 requests"
  Run run;
  std::vector<MeasuredMetric> measured;        ///< in the order of metric_entries(), then marginals
  std::map<std::string, std::string> unknown;  ///< metric and why it is not known

  [[nodiscard]] const MeasuredMetric* find(std::string_view metric) const;
};

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
/// request.
[[nodiscard]] RunEstimates estimates_of(const Run& run, std::string_view log, ClusterRegistry& registry);

/// Speedup: TPOT without speculation divided by TPOT of `run`.
void add_speedup(const RunEstimates& plain, RunEstimates& run);

}  // namespace foredraft::experiments
