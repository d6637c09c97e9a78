// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_bench/measure/sample_summary.hpp"

/// Timing several things side by side: interleaved rounds until each is known well enough or the time is up. Knows no
/// device and no clock: both are handed in, so that tests inject noise, drift, outliers and throttling.
namespace foredraft::gpu_bench {

/// One timing.
struct Sample {
  double us = 0.0;         ///< of one call, warm-up excluded
  double clock_mhz = 0.0;  ///< of the processor while it ran; 0: not known
};

/// One of the things that are compared.
struct Arm {
  std::string name;
  std::function<Sample()> run;
  int samples_a_round = 1;  ///< > 1 for what more hangs on than on the others
};

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

/// Rounds of one sample an arm that is not done yet, or of several, in an order drawn anew each round, so that what
/// drifts for all drifts for each; the first round is finished however little the time. `now_s` is any steady clock. An
/// arm's exception ends the measurement and passes through. Throws DomainError for a protocol or an arm out of range,
/// for no arms and for a sample that is not finite and > 0.
[[nodiscard]] std::vector<Measurement> measure(const std::vector<Arm>& arms, const Protocol& protocol,
                                               const std::function<double()>& now_s);

/// The difference that the harness itself makes: medians of the same arms measured twice.
struct AgainstItself {
  std::int64_t pairs = 0;
  double median_difference = 0.0;  ///< of |second / first - 1|
  double p95_difference = 0.0;
  /// Median within 2 % and 95th percentile within 5 %: beyond these a profile is not called valid.
  [[nodiscard]] bool valid() const { return pairs > 0 && median_difference <= 0.02 && p95_difference <= 0.05; }
};
/// Of the arms that have samples in both; throws DomainError where the two do not hold the same arms in the same order.
[[nodiscard]] AgainstItself against_itself(const std::vector<Measurement>& first,
                                           const std::vector<Measurement>& second);

}  // namespace foredraft::gpu_bench
