// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "latency/profile/measurement.hpp"

namespace foredraft::gpu_bench {

/// Copies of `bytes` to go through in turn so that five times the cache lies between two uses of one: 1 where they are
/// as large themselves and a use drives its own beginning out. Nothing where more than 2,000 copies would be needed:
/// what is so small cannot be timed cold. Both at least 0.
[[nodiscard]] std::optional<std::int64_t> copies_for_cold(double bytes, double cache_bytes);

/// Calls that one sample must hold so that it lasts at least 100 us, of which what a clock resolves is little; at most
/// 1000, and whole rounds over `rotated` sets of buffers.
[[nodiscard]] int calls_per_sample(double us_per_call, int rotated = 1);

// ---- Timing several things side by side: interleaved rounds until each is known well enough or the time is up. Knows
// no device and no clock: both are handed in, so that tests inject noise, drift, outliers and throttling.

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

/// Rounds of one sample an arm that is not done yet, or of several, in an order drawn anew each round, so that what
/// drifts for all drifts for each; the first round is finished however little the time. `now_s` is any steady clock. An
/// arm's exception ends the measurement and passes through. Throws DomainError for a protocol or an arm out of range,
/// for no arms and for a sample that is not finite and > 0.
[[nodiscard]] std::vector<latency::Measurement> measure(const std::vector<Arm>& arms, const latency::Protocol& protocol,
                                                        const std::function<double()>& now_s);

/// Of the arms that have samples in both; throws DomainError where the two do not hold the same arms in the same order.
[[nodiscard]] latency::AgainstItself aa_test(const std::vector<latency::Measurement>& first,
                                             const std::vector<latency::Measurement>& second);

}  // namespace foredraft::gpu_bench
