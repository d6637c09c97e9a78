// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// ---- What measuring leaves, as data; gpu_bench/measure does it.

struct Protocol {
  double relative_spread = 0.005;  ///< an arm is done when its median is known to this
  std::int64_t min_samples = 20;
  std::int64_t max_samples = 10'000;
  double budget_s = 1.0;         ///< for all arms together
  double throttled_below = 0.9;  ///< a sample at a clock below this share of the fastest seen is dropped
  std::int64_t warm_up = 3;      ///< calls of each arm that do not count
  std::uint64_t seed = 1;        ///< of the order of arms in each round
};

enum class Stopped { stable, out_of_time, max_samples };
[[nodiscard]] std::string_view to_string(Stopped reason);

struct Measurement {
  std::string name;
  SampleSummary summary;  ///< of the samples that count; samples = 0 where none did
  std::vector<double> samples_us;
  std::int64_t throttled = 0;  ///< dropped for their clock
  double clock_mhz = 0.0;      ///< median of those that count
  Stopped stopped = Stopped::stable;
};

/// The difference that the harness itself makes: medians of the same arms measured twice.
struct AgainstItself {
  std::int64_t pairs = 0;
  double median_difference = 0.0;  ///< of |second / first - 1|
  double p95_difference = 0.0;
  /// Median within 2 % and 95th percentile within 5 %: beyond these a profile is not called valid.
  [[nodiscard]] bool valid() const { return pairs > 0 && median_difference <= 0.02 && p95_difference <= 0.05; }
};

}  // namespace foredraft::latency
