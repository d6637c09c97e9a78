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

/// Summary of one time without a spread. Not checked: files report what is wrong with a time themselves.
[[nodiscard]] SampleSummary one_sample(double us);

/// Half the width of the interval of the median divided by the median.
[[nodiscard]] double relative_spread(const SampleSummary& summary);

/// Quantile: the value below which `fraction` of the sorted values are, linear between order statistics (the default of
/// numpy, R's type 7). At least one value, ascending; 0 <= fraction <= 1.
[[nodiscard]] double percentile(std::span<const double> sorted, double fraction);

/// The order statistics that enclose the median with at least this probability, for any distribution: ranks low and
/// high from 0, of n sorted samples. The whole range if n is too small for the level (below 6 for 0.95).
struct Ranks {
  std::int64_t low;
  std::int64_t high;
};
[[nodiscard]] Ranks median_ranks(std::int64_t samples, double level = 0.95);

// ---- Results of measuring, as data; gpu_bench/measure measures.

struct Protocol {
  double relative_spread = 0.005;  ///< an arm is done when its median is known to this precision
  std::int64_t fewest_samples = 20;
  std::int64_t most_samples = 10'000;
  double budget_s = 1.0;         ///< for all arms together
  double throttled_below = 0.9;  ///< a sample at a clock below this fraction of the fastest seen is dropped
  std::int64_t warm_up = 3;      ///< calls of each arm that do not count
  std::uint64_t seed = 1;        ///< of the order of arms in each round
};

enum class Stopped { stable, out_of_time, most_samples };
template <>
struct WordsOf<Stopped> {
  static constexpr std::array<std::string_view, 3> list{"stable", "out_of_time", "most_samples"};
};

struct Measurement {
  std::string name;
  SampleSummary summary;  ///< of the counted samples; samples = 0 if there are none
  std::vector<double> samples_us;
  std::int64_t throttled = 0;  ///< dropped because of their clock
  double clock_mhz = 0.0;      ///< median over the counted samples
  Stopped stopped = Stopped::stable;
};

/// A/A test: run-to-run variation of the same arms measured twice.
struct AgainstItself {
  std::int64_t pairs = 0;
  double median_difference = 0.0;  ///< of |second / first - 1|
  double p95_difference = 0.0;
  /// Median within 2 % and 95th percentile within 5 %; otherwise a profile is not valid.
  [[nodiscard]] bool valid() const { return pairs > 0 && median_difference <= 0.02 && p95_difference <= 0.05; }
};

}  // namespace foredraft::latency
