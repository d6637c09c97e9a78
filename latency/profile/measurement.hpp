// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "latency/words.hpp"

/// Statistics of repeated timings.
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

/// Summary of at least one sample, each finite and > 0.
[[nodiscard]] SampleSummary summarise(std::span<const double> samples_us);

/// Summary of a single time without spread. Does not check it; readers of files report invalid times.
[[nodiscard]] SampleSummary one_sample(double us);

/// Half the width of the interval of the median divided by the median.
[[nodiscard]] double relative_spread(const SampleSummary& summary);

/// Quantile `fraction` in [0, 1] of at least one ascending value, linear between order statistics (numpy's default, R's
/// type 7).
[[nodiscard]] double percentile(std::span<const double> sorted, double fraction);

/// Ranks (from 0) of the order statistics that enclose the median with at least probability `level`, for any
/// distribution. The whole range if there are too few samples (below 6 for 0.95).
struct Ranks {
  std::int64_t low;
  std::int64_t high;
};
[[nodiscard]] Ranks median_ranks(std::int64_t samples, double level = 0.95);

// ---- Protocol and results of measurements; gpu_bench/measure does the measuring.

struct Protocol {
  double relative_spread = 0.005;  ///< an arm is complete when its median has this precision
  std::int64_t fewest_samples = 20;
  std::int64_t most_samples = 10'000;
  double budget_s = 1.0;         ///< time budget of all arms together
  double throttled_below = 0.9;  ///< samples with a clock below this fraction of the maximum are dropped
  std::int64_t warm_up = 3;      ///< uncounted calls of each arm
  std::uint64_t seed = 1;        ///< for the order of arms in each round
};

enum class Stopped { stable, out_of_time, most_samples };
template <>
struct WordsOf<Stopped> {
  static constexpr std::array<std::string_view, 3> list{"stable", "out_of_time", "most_samples"};
};

struct Measurement {
  std::string name;
  SampleSummary summary;  ///< over counted samples; samples = 0 if there are none
  std::vector<double> samples_us;
  std::int64_t throttled = 0;  ///< samples dropped because of their clock
  double clock_mhz = 0.0;      ///< median over the counted samples
  Stopped stopped = Stopped::stable;
};

/// A/A test: run-to-run variation of the same arms measured twice.
struct AgainstItself {
  std::int64_t pairs = 0;
  double median_difference = 0.0;  ///< of |second / first - 1|
  double p95_difference = 0.0;
  /// True if the median is within 2 % and the 95th percentile within 5 %; otherwise the profile is invalid.
  [[nodiscard]] bool valid() const { return pairs > 0 && median_difference <= 0.02 && p95_difference <= 0.05; }
};

}  // namespace foredraft::latency
