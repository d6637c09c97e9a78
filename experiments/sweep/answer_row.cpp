// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>

#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/drafting_law.hpp"
#include "experiments/text/numbers.hpp"

namespace foredraft::experiments {
namespace {

bool computed(const SweepConfig& config, const Metric& metric) {
  switch (metric.needs) {
    case Needs::nothing:
      return true;
    case Needs::cost:
      return has_cost(config);
    case Needs::operations_ratio:
      return has_input(config, "operations_ratio");
    case Needs::varying_gamma:
      return gamma_varies(config);
    case Needs::serving:
      return has_input(config, "max_batch");
    case Needs::latency_goal:
      return has_input(config, "latency_goal_ms");
  }
  throw std::logic_error("unknown need");
}

void append_cell(const std::optional<double>& value, std::string& row) {
  row += ',';
  if (value && !std::isnan(*value)) append_number(row, *value);
}

void append_analytic_cell(const std::optional<double>& value, std::string& row) {
  if (value && *value == HUGE_VAL) {
    row += ",unbounded";
  } else {
    append_cell(value, row);
  }
}

}  // namespace

std::vector<std::string> answer_columns(const SweepConfig& config) {
  const bool simulated = config.simulation.has_value();
  std::vector<std::string> columns;
  if (simulated) columns = {"simulated_iterations", "simulated_units"};
  for (const Metric& metric : metrics()) {
    if (!computed(config, metric)) continue;
    if (metric.analytic) columns.push_back(fmt::format("analytic_{}", metric.name));
    if (!simulated || !metric.simulated) continue;
    columns.push_back(fmt::format("simulated_{}", metric.name));
    columns.push_back(fmt::format("simulated_{}_standard_error", metric.name));
    if (metric.analytic) columns.push_back(fmt::format("{}_deviation_in_se", metric.name));
  }
  return columns;
}

void append_answer(const SweepConfig& config, const AnalyticAnswer& analytic, const SimulatedAnswer* simulated,
                   std::string& row) {
  const std::size_t start = row.size();
  if (simulated != nullptr) {
    row += ',';
    append_number(row, simulated->iterations);
    row += ',';
    append_number(row, simulated->units);
  }
  for (std::size_t i = 0; i < metric_count; ++i) {
    const Metric& metric = metrics()[i];
    if (!computed(config, metric)) continue;
    if (metric.analytic) append_analytic_cell(analytic[i], row);
    if (simulated == nullptr || !metric.simulated) continue;
    const auto& estimate = simulated->estimates[i];
    append_cell(estimate ? std::optional(estimate->mean) : std::nullopt, row);
    append_cell(estimate ? std::optional(estimate->standard_error) : std::nullopt, row);
    if (metric.analytic) append_cell(deviation_in_se(analytic, *simulated, i), row);
  }
  row.erase(start, 1);  // the comma before the first cell stands at the end of the inputs
}

}  // namespace foredraft::experiments
