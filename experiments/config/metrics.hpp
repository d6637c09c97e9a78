// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

/// The dictionary of output quantities: the one source of CSV headers, labels and docs/metrics.md.
namespace foredraft::experiments {

enum class Needs { nothing, cost, operations_ratio, varying_gamma, serving, latency_goal };

struct Metric {
  /// Column stem: analytic_NAME, simulated_NAME, simulated_NAME_standard_error, NAME_deviation_in_se.
  std::string_view name;
  std::string_view unit;   ///< empty for ratios
  std::string_view label;  ///< for axes of figures
  bool analytic;           ///< has a closed form for some process
  bool simulated;          ///< is counted by a simulation
  Needs needs;             ///< the input without which it does not exist
  std::string_view meaning;
  std::string_view estimated;  ///< how the simulation estimates it and its standard error
};

/// Positions in metrics().
enum MetricIndex : std::size_t {
  tokens_per_iteration_metric,
  tokens_variance_metric,
  speedup_metric,
  operations_factor_metric,
  memory_access_factor_metric,
  per_token_metric,
  accepted_over_drafted_metric,
  mean_gamma_metric,
  best_gamma_metric,
  best_speedup_metric,
  tokens_per_s_metric,
  goodput_metric,
  mean_batch_metric,
  mean_in_system_metric,
  wait_metric,
  latency_metric,
  latency_p50_metric,
  latency_p95_metric,
  latency_p99_metric,
  first_token_metric,
  first_token_p50_metric,
  first_token_p95_metric,
  first_token_p99_metric,
  per_token_latency_metric,
  per_token_latency_p50_metric,
  per_token_latency_p95_metric,
  per_token_latency_p99_metric,
  metric_count
};

[[nodiscard]] const std::array<Metric, metric_count>& metrics();

/// Null for an unknown name.
[[nodiscard]] const Metric* find_metric(std::string_view name);

/// Every column of points.csv as a Markdown table.
[[nodiscard]] std::string metrics_markdown();

}  // namespace foredraft::experiments
