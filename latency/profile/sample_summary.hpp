// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/intervals.hpp"

/// What repeated timings of one thing say.
namespace foredraft::latency {

/// Times in microseconds.
struct SampleSummary {
  std::int64_t samples = 0;
  double median_us = 0.0;
  Interval median_ci95_us{};  ///< distribution-free, from order statistics
  double p5_us = 0.0;
  double p25_us = 0.0;
  double p75_us = 0.0;
  double p95_us = 0.0;
  double min_us = 0.0;
  double mean_us = 0.0;
  double mad_us = 0.0;  ///< median absolute deviation from the median
};

/// At least one sample, each finite and > 0.
[[nodiscard]] SampleSummary summarise(std::span<const double> samples_us);

/// Of one time that says nothing of its spread. Not checked: files name what is wrong with a time themselves.
[[nodiscard]] SampleSummary one_sample(double us);

/// Half the width of the interval of the median over the median: how well the median is known.
[[nodiscard]] double relative_spread(const SampleSummary& summary);

/// The value below which `fraction` of the sorted values lie, straight lines between order statistics (the definition
/// of numpy and R's type 7). At least one value, ascending; 0 <= fraction <= 1.
[[nodiscard]] double percentile(std::span<const double> sorted, double fraction);

/// The order statistics that enclose the median with at least this probability, whatever the distribution: ranks low
/// and high from 0, of n sorted samples. The whole range where n is too small for the level (below 6 for 0.95).
struct Ranks {
  std::int64_t low;
  std::int64_t high;
};
[[nodiscard]] Ranks median_ranks(std::int64_t samples, double level = 0.95);

}  // namespace foredraft::latency
