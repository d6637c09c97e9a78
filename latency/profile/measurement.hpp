// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "latency/profile/sample_summary.hpp"

/// What measuring leaves, as data; gpu_bench/measure does it.
namespace foredraft::latency {

struct Protocol {
  double relative_spread = 0.005;  ///< an arm is done when its median is known to this
  std::int64_t fewest_samples = 20;
  std::int64_t most_samples = 10'000;
  double budget_s = 1.0;         ///< for all arms together
  double throttled_below = 0.9;  ///< a sample at a clock below this share of the fastest seen is dropped
  std::int64_t warm_up = 3;      ///< calls of each arm that do not count
  std::uint64_t seed = 1;        ///< of the order of arms in each round
};

enum class Stopped { stable, out_of_time, most_samples };
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
