// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/profile/profile.hpp"

/// Time of a forward pass in an engine, from its operators and the fractions of a data sheet's limits that engines
/// reach.
namespace foredraft::latency {

/// Limits stated by a data sheet. A format that is not in the map is unknown, or the device does not compute in it.
struct DevicePeaks {
  std::string device;  ///< for messages
  double memory_bandwidth_bytes_per_s = 0.0;
  std::map<NumberFormat, double> matrix_peak_flop_per_s = {};  ///< dense
  std::optional<double> link_bandwidth_bytes_per_s = {};       ///< of one device to all others, each way
};

/// The limits that a profile states: 4-bit peaks are those of nvfp4; the bandwidth is the best measured one, or the
/// manufacturer's. Throws DomainError for a device whose memory bandwidth is not known.
[[nodiscard]] DevicePeaks peaks_of(const Device& device, const Limits& limits);

/// The format in which a device computes products of operands in `format`: itself, if it has a peak of it, else the
/// next wider one that it has. Without units for fp8, int8 or nvfp4 these are converted on the way and computed in 16
/// bits, as engines do: in bf16, without it (V100, T4) in fp16; either 16-bit format takes the place of the other.
/// Without both (P40) it is fp32. Nullopt if the device has none of them; fp32 has no wider one.
[[nodiscard]] std::optional<NumberFormat> computed_in(const DevicePeaks& peaks, NumberFormat format);

/// Reached fractions of the limits and overheads, one value each. A pass takes
///
///     step_us + sum over operators of count (operator_us + ((bytes / (e_b B))^p + (flop / (e_c P))^p)^(1/p))
///
/// with bandwidth B, peak P of the format that computed_in() says and sharpness p, plus its collectives: an all-reduce
/// over T devices takes all_reduce_us and 2 (T - 1) / T of the tensor over the link, an all-gather half the latter. A
/// product on vector units takes e_v and the peak of fp32 for e_c and P; attention also moves kv_reread of its
/// reread_bytes.
struct Attained {
  double bandwidth_efficiency = 1.0;  ///< e_b, of the data sheet's bandwidth
  double compute_efficiency = 1.0;    ///< e_c, of the data sheet's matrix peak
  double operator_us = 0.0;
  double step_us = 0.0;
  double link_efficiency = 1.0;
  double all_reduce_us = 0.0;                    ///< constant part of a collective
  double sharpness = 0.0;                        ///< > 1; 1: the sum of moving and computing
  std::optional<double> vector_efficiency = {};  ///< e_v, of the data sheet's fp32 peak; empty: as on matrix units
  /// In [0, 1]: 0 attention reads the KV cache once for all queries of a sequence, 1 once for each of them.
  double kv_reread = 0.0;
  bool operator==(const Attained&) const = default;
};

/// A number known to be in [low, high], with the best estimate `value`.
struct Range {
  double low = 0.0, value = 0.0, high = 0.0;
  bool operator==(const Range&) const = default;
};

/// Reached fractions and overheads of one device's data sheet with their uncertainty. The ranges of efficiencies and
/// latencies are the differences between fits; times and ratios are in the ranges of `step` and `verification`.
struct Attainable {
  Range bandwidth_efficiency, compute_efficiency, operator_us, step_us, link_efficiency, all_reduce_us, sharpness;
  Range vector_efficiency, kv_reread;
  Range expert_skew;   ///< of the tokens that one pass of a mixture reads, as Deployment::expert_skew
  Range step;          ///< true time of a pass divided by that of the formula
  Range verification;  ///< true t(n) / t(1) divided by that of the formula; vector units and routing come on top
  Range iteration_us;  ///< overhead of an iteration of speculation beyond its passes
  bool operator==(const Attainable&) const = default;
};

/// Values known for a particular engine; empty: the range is used.
struct AttainableOverrides {
  std::optional<double> bandwidth_efficiency, compute_efficiency, step_us, iteration_us;
};
[[nodiscard]] Attainable with(const AttainableOverrides& known, Attainable attainable);

/// The best estimates of the ranges.
[[nodiscard]] Attained central(const Attainable& attainable);

/// With vector units and routing at the end of their ranges where a pass over several tokens takes longest, or
/// shortest.
[[nodiscard]] Attainable with_slow_verification(Attainable attainable);
[[nodiscard]] Attainable with_fast_verification(Attainable attainable);

/// The values of latency/attainable/attainable.toml, with the links of the device: from 100 GB/s on those of NVLink,
/// below those of PCIe. Rationale in docs/step-times.md.
[[nodiscard]] Attainable attainable_of(const DevicePeaks& peaks);

/// The same from text in the format of that file. Throws DomainError with every problem, one per line.
struct AttainableFile {
  Attainable nvlink, pcie;
};
[[nodiscard]] AttainableFile parse_attainable(std::string_view text, const std::string& name);

/// The data sheet's limits themselves without latencies, maximum of moving and computing: a lower bound of any engine's
/// time.
[[nodiscard]] Attained data_sheet_limits();

/// Time of one operator of a forward pass over `devices` devices, in us. Throws DomainError, naming format and device,
/// if no peak is known that it could compute at (computed_in), and for a collective without a link.
[[nodiscard]] double operator_us(const StepOperator& one, std::int64_t devices, const DevicePeaks& peaks,
                                 const Attained& attained);

/// Time of all passes at a point, in us. Throws DomainError as operator_us and ForwardPassOperations::operators.
[[nodiscard]] double pass_us(const ForwardPassOperations& operations, const ForwardPassPoint& point,
                             const DevicePeaks& peaks, const Attained& attained);

/// The same of a decoder pass over `decoding` that also reads `prompt` (mixed).
[[nodiscard]] double mixed_pass_us(const ForwardPassOperations& operations, const ForwardPassPoint& decoding,
                                   const ForwardPassPoint& prompt, const DevicePeaks& peaks, const Attained& attained);

/// The time of passes by what it is spent on; the overhead is that of each pass (Attained::step_us).
struct PassParts {
  std::int64_t passes = 1;
  double inputs_us = 0.0, layers_us = 0.0, vocabulary_us = 0.0, overhead_us = 0.0;
  double host_us = 0.0;  ///< of a drafter without a model
};
[[nodiscard]] PassParts pass_parts(const ForwardPassOperations& operations, const ForwardPassPoint& point,
                                   const DevicePeaks& peaks, const Attained& attained);

/// The file of latency/attainable; generated by the build.
struct AttainableText {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const std::vector<AttainableText>& attainable_texts();

}  // namespace foredraft::latency
