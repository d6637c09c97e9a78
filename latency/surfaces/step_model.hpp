// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
/// with bandwidth B, peak P of the operator's format and sharpness p, and its collectives: an all-reduce over T devices
/// takes all_reduce_us and 2 (T - 1) / T of the tensor over the link, an all-gather half the latter.
struct Attained {
  double bandwidth_efficiency = 1.0;  ///< e_b, of the data sheet's bandwidth
  double compute_efficiency = 1.0;    ///< e_c, of the data sheet's matrix peak
  double operator_us = 0.0;
  double step_us = 0.0;
  double link_efficiency = 1.0;
  double all_reduce_us = 0.0;  ///< of a collective, beside its bytes
  double sharpness = 0.0;      ///< above 1, or 1: the sum of moving and computing
  bool operator==(const Attained&) const = default;
};

/// A number that is known to lie in [low, high], best known as value.
struct Range {
  double low = 0.0, value = 0.0, high = 0.0;
  bool operator==(const Range&) const = default;
};

/// What engines reach of one device's data sheet, and how well that is known. The ranges of efficiencies and latencies
/// are what fits differ by; times and ratios lie in the ranges of `step` and `verification`.
struct Attainable {
  Range bandwidth_efficiency, compute_efficiency, operator_us, step_us, link_efficiency, all_reduce_us, sharpness;
  Range step;          ///< a pass takes so many times what the formula says
  Range verification;  ///< t(n) / t(1) is so many times what the formula says
  Range iteration_us;  ///< what an iteration of speculation takes beyond its passes
  bool operator==(const Attainable&) const = default;
};

/// What somebody knows better of an engine; nothing: the range stays.
struct AttainableOverrides {
  std::optional<double> bandwidth_efficiency, compute_efficiency, step_us, iteration_us;
};
[[nodiscard]] Attainable with(const AttainableOverrides& known, Attainable attainable);

/// The values of the ranges.
[[nodiscard]] Attained central(const Attainable& attainable);

/// That of latency/attainable/attainable.toml, with the links of the device: from 100 GB/s on like NVLink, below like
/// PCIe. docs/step-times.md says what it rests on.
[[nodiscard]] Attainable attainable_of(const DevicePeaks& peaks);

/// Of text in the format of that file. Throws DomainError with every problem, one a line.
struct AttainableFile {
  Attainable nvlink, pcie;
};
[[nodiscard]] AttainableFile parse_attainable(std::string_view text, const std::string& name);

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

}  // namespace foredraft::latency
