// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "latency/models/deployment.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/profile/latency_fit.hpp"
#include "latency/profile/profile.hpp"

/// The time that a forward pass takes in an engine, from its operators and what engines reach of a data sheet.
namespace foredraft::latency {

/// What a data sheet states. Of a format that is not in the map nothing is known, or it is not computed in.
struct DevicePeaks {
  std::string device;  ///< for messages
  double memory_bandwidth_bytes_per_s = 0.0;
  std::map<NumberFormat, double> matrix_peak_flop_per_s = {};  ///< dense
  std::optional<double> link_bandwidth_bytes_per_s = {};       ///< of one device to all others, each way
};

/// The peaks that a profile states: 4-bit peaks are those of nvfp4; the best bandwidth measured, or the maker's. Throws
/// DomainError for a device whose memory bandwidth is not known.
[[nodiscard]] DevicePeaks peaks_of(const Device& device, const Limits& limits);

/// What engines reach, one value each. A pass takes
///
///     step_us + sum over operators of count (operator_us + ((bytes / (e_b B))^p + (flop / (e_c P))^p)^(1/p))
///
/// with bandwidth B, peak P of the operator's format and sharpness p, and its collectives. An all-reduce over T devices
/// goes round a ring, 2 (T - 1) hops of latency and 2 (T - 1) / T of the tensor over the link, or, where that is
/// faster, in one hop to all others with T - 1 times the tensor. An all-gather takes one hop and (T - 1) / T of the
/// tensor.
struct Attained {
  double bandwidth_efficiency = 1.0;  ///< e_b, of the data sheet's bandwidth
  double compute_efficiency = 1.0;    ///< e_c, of the data sheet's matrix peak
  double operator_us = 0.0;
  double step_us = 0.0;
  double link_efficiency = 1.0;
  double link_latency_us = 0.0;  ///< of one hop
  double sharpness = 0.0;        ///< above 1
  bool operator==(const Attained&) const = default;
};

/// A parameter that is known to lie in [low, high], best known as value.
struct Range {
  double low = 0.0, value = 0.0, high = 0.0;
  bool operator==(const Range&) const = default;
};

/// Attained with a range of each parameter: a box of which `value` is the best point.
struct Attainable {
  Range bandwidth_efficiency, compute_efficiency;
  Range operator_us, step_us;
  Range link_efficiency, link_latency_us;
  double sharpness = 0.0;
  std::string source;
  bool operator==(const Attainable&) const = default;
};

/// Provisional, until they are fitted to measured steps; `source` says where each comes from.
[[nodiscard]] const Attainable& provisional_attainable();

/// Throws DomainError for efficiencies that are not above 0, times below 0, ranges out of order and a sharpness that is
/// not above 1.
void check_attainable(const Attainable& attainable);

/// The box's best point, and those with the least and the largest times.
[[nodiscard]] Attained central(const Attainable& attainable);
[[nodiscard]] Attained fastest(const Attainable& attainable);
[[nodiscard]] Attained slowest(const Attainable& attainable);

/// The box's corners, 2^n for n parameters with low < high. Passes on one device share its parameters, so that the
/// interval of a ratio of their times (a speedup) is not the ratio of their intervals: evaluate all of its passes at
/// central() and at each corner, and take the least and the largest ratio. While no operator changes between moving and
/// computing, a ratio rises or falls with each parameter throughout the box, so that the corners are its extremes.
[[nodiscard]] std::vector<Attained> corners(const Attainable& attainable);

/// Everything at the data sheet's limits, latencies none, maximum of moving and computing: no engine is faster.
[[nodiscard]] Attained data_sheet_limits();

/// Time of a pass over `devices` devices, in us. Throws DomainError, naming format and device, for operators that
/// compute in a format without a peak, and for collectives without a link.
[[nodiscard]] double step_us(const std::vector<StepOperator>& operators, std::int64_t devices, const DevicePeaks& peaks,
                             const Attained& attained);

/// The same time of an operation that is counted from its program (PassWork), all in one format, on one device: for
/// passes that have no step operations, those of an encoder-decoder or of heads on a hidden state. Attained::step_us
/// comes on top, once a pass.
[[nodiscard]] LatencyModel latency_model(const DevicePeaks& peaks, NumberFormat format, const Attained& attained);

struct StepTime {
  double low_us = 0.0, us = 0.0, high_us = 0.0;
};

/// step_us at the fastest, central and slowest point: all that the box allows.
[[nodiscard]] StepTime step_time(const std::vector<StepOperator>& operators, std::int64_t devices,
                                 const DevicePeaks& peaks, const Attainable& attainable);

}  // namespace foredraft::latency
