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

/// What one run measured, with errors from how its requests or windows scatter.
namespace foredraft::experiments {

/// The metrics that a run may have; acceptance by position comes on top as "marginal[1]", "marginal[2]", ...
struct MetricEntry {
  std::string_view name;   ///< in --require and JSON
  std::string_view title;  ///< of a table
  bool more_is_better;
};
[[nodiscard]] std::span<const MetricEntry> metric_entries();

/// Of a marginal too. Precondition: there is such a metric.
[[nodiscard]] MetricEntry metric_entry(std::string_view name);

/// "marginal[3]": share of verification steps whose first 3 drafts were all accepted.
[[nodiscard]] std::string marginal_name(std::size_t position);

struct MeasuredMetric {
  std::string metric;
  analytic::ClusteredEstimate estimate;
  logs::Span span;       ///< what the clusters are
  std::size_t clusters;  ///< that hold the metric
};

struct RunEstimates {
  std::string log;   ///< "A" or "B"
  std::string name;  ///< "A, K = 3, 64 requests"
  Run run;
  std::vector<MeasuredMetric> measured;        ///< in the order of metric_entries(), then marginals
  std::map<std::string, std::string> unknown;  ///< metric and why it is not known

  [[nodiscard]] const MeasuredMetric* find(std::string_view metric) const;
};

/// Numbers sets of clusters: runs that hold the same requests, by name, get the same number.
class ClusterRegistry {
 public:
  /// `names`: of requests, in their order, each once. Empty: clusters without names, of one run only.
  [[nodiscard]] std::size_t number_of(const std::vector<std::string>& names);

 private:
  std::map<std::vector<std::string>, std::size_t> known_ = {};
  std::size_t next_ = 0;
};

/// All but the speedup. Of requests, windows and whole runs the finest that hold a metric are its clusters. A counter
/// by which every draft was accepted tells no acceptance. TPOT and iteration time are those of decoding one request.
[[nodiscard]] RunEstimates estimates_of(const Run& run, std::string_view log, ClusterRegistry& registry);

/// TPOT of plain decoding over TPOT of `run`.
void add_speedup(const RunEstimates& plain, RunEstimates& run);

}  // namespace foredraft::experiments
