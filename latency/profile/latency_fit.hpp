// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/intervals.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::latency {

/// Time of an operation that moves and computes:
///
///     launch + input * inputs + ((bytes / bandwidth)^p + (flop / peak)^p)^(1/p),
///
/// `input` for products of matrices alone, with a launch and a peak of its own for attention. A pass is the sum over
/// its operations. p = infinity is the roofline. Each > 0 and finite (but p); launches and `input_us` may be 0.
struct LatencyModel {
  double launch_us = 0.0;
  double input_us = 0.0;  ///< for each input of a product: what a longer sum costs beyond its bytes
  double bandwidth_bytes_per_s = 0.0;
  double peak_flop_per_s = 0.0;
  double sharpness = 0.0;  ///< p > 1: how sudden the change from moving to computing is
  double attend_launch_us = 0.0;
  double attend_peak_flop_per_s = 0.0;
};

/// 95 % intervals of a model's parameters, from refitting to shapes drawn with replacement.
struct LatencyIntervals {
  Interval launch_us{}, input_us{}, bandwidth_bytes_per_s{}, peak_flop_per_s{}, sharpness{}, attend_launch_us{},
      attend_peak_flop_per_s{};
};

/// Errors |predicted / measured - 1| of rows whose whole shape (a model, or a matrix) was left out of the fit.
struct HeldOutError {
  std::int64_t rows = 0, shapes = 0;
  double mean = 0.0, median = 0.0, p90 = 0.0, p95 = 0.0, max = 0.0;
};

/// Where a fit holds: the range of what it was fitted to.
struct FitDomain {
  Interval rows{};           ///< batch times tokens, of drafting one by one: batch
  Interval product_bytes{};  ///< of one matrix product over one row: its weights
  Interval context{};
};

/// One fit a way of running: dtype, state of the cache, launch.
struct LatencyFit {
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;
  LatencyModel model;
  LatencyIntervals ci95;
  HeldOutError held_out;
  FitDomain domain;
};

}  // namespace foredraft::latency
