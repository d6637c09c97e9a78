// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a faster verification kernel does to the whole, and what fewer calls of it do. [Wagner2024; Amdahl1967]
/// A gain is the part of a time that is saved, 1 - after / before: finite and at most 1, negative where time is lost.
namespace foredraft::analytic {

/// Times of one iteration in one unit, each >= 0 and finite, not all zero.
struct IterationTimes {
  double drafting;
  double target;
  double kernel;  ///< the sampling step that accepts, rejects and draws the replacement
};

/// Share of the verification kernel in an iteration, 0 to 1.
[[nodiscard]] double kernel_share(const IterationTimes& times);

/// Gain of the whole when a part of this share has this gain and nothing else changes (Amdahl): share * part_gain.
[[nodiscard]] double wall_gain(double share, double part_gain);

/// The share that explains both gains: its inverse. Below 0 or above 1 no share does: something else changed too.
/// `part_gain` != 0.
[[nodiscard]] double implied_share(double wall_gain, double part_gain);

/// Gain of all calls together when each has `call_gain` and there are `call_ratio` >= 0 times as many:
/// 1 - call_ratio (1 - call_gain).
[[nodiscard]] double total_gain(double call_gain, double call_ratio);

/// The ratio of numbers of calls that explains both gains: its inverse. `call_gain` < 1.
[[nodiscard]] double implied_call_ratio(double total_gain, double call_gain);

}  // namespace foredraft::analytic
