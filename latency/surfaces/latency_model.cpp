// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/latency_model.hpp"

#include <limits>

namespace foredraft::latency {

double pass_us(const LatencyModel& model, const PassWork& work, const PassPoint& point) {
  double sum_us = 0.0;
  work.visit(point, [&](const OperationWork& one) { sum_us += one.count * operation_us(model, one); });
  return sum_us;
}

std::optional<LatencyModel> roofline(const Limits& limits, std::string_view dtype) {
  const std::optional<double> bandwidth = best_bandwidth(limits);
  const std::optional<double> peak = matrix_peak(limits, dtype);
  if (!bandwidth || !peak) return std::nullopt;
  const double launch_us = limits.graph_node_us.value.value_or(0.0);
  return LatencyModel{.launch_us = launch_us,
                      .input_us = 0.0,
                      .bandwidth_bytes_per_s = *bandwidth,
                      .peak_flop_per_s = *peak,
                      .sharpness = std::numeric_limits<double>::infinity(),
                      .attend_launch_us = launch_us,
                      .attend_peak_flop_per_s = *peak};
}

}  // namespace foredraft::latency
