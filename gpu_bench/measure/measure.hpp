// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "latency/profile/measurement.hpp"

namespace foredraft::gpu_bench {

/// Number of copies of `bytes` to rotate through for a cold cache, so that five times the cache lies between two uses
/// of one: 1 if they are as large themselves, since a use then evicts its own beginning. Nullopt if more than 2,000
/// copies would be needed: such small data cannot be timed cold. Both at least 0.
[[nodiscard]] std::optional<std::int64_t> copies_for_cold(double bytes, double cache_bytes);

/// Number of calls per sample so that it lasts at least 100 us, much longer than the resolution of a clock; at most
/// 1000, but at least one round over `rotated` sets of buffers, and rounded up to whole rounds.
[[nodiscard]] int calls_per_sample(double us_per_call, int rotated = 1);

// ---- Interleaved timing of several arms, in rounds until each is known well enough or the time is up. Independent of
// clock and device: both are passed in, so that tests inject noise, drift, outliers and throttling.

struct Sample {
  double us = 0.0;         ///< of one call, without warm-up
  double clock_mhz = 0.0;  ///< of the processor while it ran; 0: not known
};

struct Arm {
  std::string name;
  std::function<Sample()> run;
  int samples_a_round = 1;  ///< > 1 for arms that more results depend on
};

/// Measures arms in rounds: one sample (or several) per arm that is not done yet, in a random order drawn anew each
/// round, so that drift affects all equally. The first round is completed even if the time is up. `now_s` is any steady
/// clock. An exception of an arm ends the measurement and is passed on. Throws DomainError for a protocol or an arm out
/// of range, for no arms and for a sample that is not finite and > 0.
[[nodiscard]] std::vector<latency::Measurement> measure(const std::vector<Arm>& arms, const latency::Protocol& protocol,
                                                        const std::function<double()>& now_s);

/// A/A test over the arms with samples in both; throws DomainError if the two do not have the same arms in the same
/// order.
[[nodiscard]] latency::AgainstItself aa_test(const std::vector<latency::Measurement>& first,
                                             const std::vector<latency::Measurement>& second);

}  // namespace foredraft::gpu_bench
