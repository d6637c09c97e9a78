// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/limit_figure.hpp"

#include <fmt/format.h>

namespace foredraft::gpu_bench {

latency::Figure rate_figure(const latency::KernelRow& row, double amount) {
  const latency::SampleSummary& summary = row.timing.summary;
  const double per_s = 1e6 * amount;
  return {.value = per_s / summary.median_us,
          .ci95 = Interval{per_s / summary.median_ci95_us.high, per_s / summary.median_ci95_us.low},
          .origin = fmt::format("measured: {} {} {}", row.operation, row.shape, row.dtype)};
}

}  // namespace foredraft::gpu_bench
