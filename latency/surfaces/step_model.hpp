// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedded_file.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/profile/profile.hpp"

/// Time of a forward pass in an engine, computed from its operators and the fractions of a data sheet's limits that
/// engines attain.
namespace foredraft::latency {

/// Limits of a data sheet. For formats that are not in the map the peak is unknown or the device does not support them.
struct DevicePeaks {
  std::string device;  ///< for messages
  double memory_bandwidth_bytes_per_s = 0.0;
  std::map<NumberFormat, double> matrix_peak_flop_per_s = {};  ///< dense
  std::optional<double> link_bandwidth_bytes_per_s = {};       ///< of one device to all others, per direction
};

/// The limits of a profile. 4-bit peaks apply to nvfp4; the bandwidth is the best measured one, or the manufacturer's.
/// Throws DomainError if the memory bandwidth is unknown.
[[nodiscard]] DevicePeaks peaks_of(const Device& device, const Limits& limits);

/// The format in which a device computes products of operands in `format`: `format` itself if the device has a peak for
/// it, else the next wider format. As in engines, fp8, int8 and nvfp4 are converted to a 16-bit format if the device
/// does not support them: bf16 or, without it (V100, T4), fp16. bf16 and fp16 replace each other; without both (P40),
/// fp32 is used. nullopt if the device supports none of them.
[[nodiscard]] std::optional<NumberFormat> computed_in(const DevicePeaks& peaks, NumberFormat format);

/// Attained fractions of the limits and overheads. A pass takes
///
///     step_us + sum over operators of count (operator_us + ((bytes / (e_b B))^p + (flop / (e_c P))^p)^(1/p))
///
/// with bandwidth B, peak P of the format computed_in() and sharpness p, plus collectives: an all-reduce over T devices
/// takes all_reduce_us and transfers 2 (T - 1) / T of the tensor over the link, an all-gather half as much. For
/// products on vector units, e_v and the fp32 peak replace e_c and P. Attention also reads kv_reread times its
/// reread_bytes.
struct Attained {
  double bandwidth_efficiency = 1.0;  ///< e_b, of the data sheet's bandwidth
  double compute_efficiency = 1.0;    ///< e_c, of the data sheet's matrix peak
  double operator_us = 0.0;
  double step_us = 0.0;
  double link_efficiency = 1.0;
  double all_reduce_us = 0.0;                    ///< constant part of a collective
  double sharpness = 0.0;                        ///< p > 1; 1: the sum of memory and computing time
  std::optional<double> vector_efficiency = {};  ///< e_v, of the data sheet's fp32 peak; empty: as on matrix units
  /// In [0, 1]. 0: attention reads the KV cache once for all queries of a sequence; 1: once for each query.
  double kv_reread = 0.0;
  bool operator==(const Attained&) const = default;
};

/// A best estimate `value` with its range [low, high].
struct Range {
  double low = 0.0, value = 0.0, high = 0.0;
  bool operator==(const Range&) const = default;
};

/// Attained fractions and overheads for a device's data sheet, with uncertainty. The ranges of efficiencies and
/// latencies are differences between fits; `step` and `verification` are the ranges of times and ratios.
struct Attainable {
  Range bandwidth_efficiency, compute_efficiency, operator_us, step_us, link_efficiency, all_reduce_us, sharpness;
  Range vector_efficiency, kv_reread;
  Range expert_skew;   ///< of the tokens of a pass, see Deployment::expert_skew
  Range step;          ///< true time of a pass divided by the formula's
  Range verification;  ///< true t(n) / t(1) divided by the formula's; without vector units and routing, which add to it
  Range iteration_us;  ///< overhead of an iteration of speculation in addition to its passes
  bool operator==(const Attainable&) const = default;
};

/// Values known for a particular engine; empty: the range is used.
struct AttainableOverrides {
  std::optional<double> bandwidth_efficiency, compute_efficiency, step_us, iteration_us;
};
[[nodiscard]] Attainable with(const AttainableOverrides& known, Attainable attainable);

/// The best estimates of the ranges.
[[nodiscard]] Attained central(const Attainable& attainable);

/// With vector units and routing at the limits of their ranges that make passes over several tokens slowest or fastest.
[[nodiscard]] Attainable with_slow_verification(Attainable attainable);
[[nodiscard]] Attainable with_fast_verification(Attainable attainable);

/// The values of latency/attainable/attainable.toml for the device's link: NVLink from 100 GB/s on, PCIe below.
/// Rationale in docs/step-times.md.
[[nodiscard]] Attainable attainable_of(const DevicePeaks& peaks);

/// Parses text in the format of that file. Throws DomainError, which lists all problems, one per line.
struct AttainableFile {
  Attainable nvlink, pcie;
};
[[nodiscard]] AttainableFile parse_attainable(std::string_view text, const std::string& name);

/// The data sheet's limits without latencies, with the maximum of memory and computing time: a lower bound of any
/// engine's time.
[[nodiscard]] Attained data_sheet_limits();

/// Time in us of one operator of a forward pass over `devices` devices. Throws DomainError, which names format and
/// device, if no usable peak is known (computed_in), and for a collective without a link.
[[nodiscard]] double operator_us(const StepOperator& one, std::int64_t devices, const DevicePeaks& peaks,
                                 const Attained& attained);

/// Time of all passes at a point, in us. Throws DomainError as operator_us and ForwardPassOperations::operators.
[[nodiscard]] double pass_us(const ForwardPassOperations& operations, const ForwardPassPoint& point,
                             const DevicePeaks& peaks, const Attained& attained);

/// The same for a decoder pass over `decoding` that also prefills `prompt` (ForwardPassOperations::mixed).
[[nodiscard]] double mixed_pass_us(const ForwardPassOperations& operations, const ForwardPassPoint& decoding,
                                   const ForwardPassPoint& prompt, const DevicePeaks& peaks, const Attained& attained);

/// The parts of the time of passes. The overhead is the sum of Attained::step_us over passes.
struct PassParts {
  std::int64_t passes = 1;
  double inputs_us = 0.0, layers_us = 0.0, vocabulary_us = 0.0, overhead_us = 0.0;
  double host_us = 0.0;  ///< of a drafter without a model
};
[[nodiscard]] PassParts pass_parts(const ForwardPassOperations& operations, const ForwardPassPoint& point,
                                   const DevicePeaks& peaks, const Attained& attained);

/// The file of latency/attainable. Generated by the build.
[[nodiscard]] const std::vector<EmbeddedFile>& attainable_texts();

}  // namespace foredraft::latency
