// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/step_model.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <limits>

#include "core/check.hpp"
#include "core/documents.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/storage.hpp"
#include "latency/surfaces/fit_latency.hpp"

namespace foredraft::latency {
namespace {

double peak_of(const DevicePeaks& peaks, NumberFormat format) {
  if (const auto computed = computed_in(peaks, format)) return peaks.matrix_peak_flop_per_s.at(*computed);
  throw DomainError(
      fmt::format("{}: no matrix peak of {} or a wider format is known (matrices in this format compute in it) - take "
                  "another weight format, or state the peak in a device file",
                  peaks.device, to_string(format)));
}

double link_of(const DevicePeaks& peaks) {
  if (peaks.link_bandwidth_bytes_per_s) return *peaks.link_bandwidth_bytes_per_s;
  throw DomainError(fmt::format(
      "{}: no link between devices is known (tensor parallelism sums over it) - take tensor_parallel 1, or state the "
      "link in a device file",
      peaks.device));
}

}  // namespace

DevicePeaks peaks_of(const Device& device, const Limits& limits) {
  const std::optional<double> bandwidth = best_bandwidth(limits);
  if (!bandwidth) {
    throw DomainError(fmt::format(
        "{}: no memory bandwidth is known (every time follows from it) - state it in a device file", device.name));
  }
  DevicePeaks peaks{.device = device.name,
                    .memory_bandwidth_bytes_per_s = *bandwidth,
                    .link_bandwidth_bytes_per_s = limits.link_bandwidth_bytes_per_s.value};
  const auto state = [&peaks](NumberFormat format, const Figure& peak) {
    if (peak.value) peaks.matrix_peak_flop_per_s[format] = *peak.value;
  };
  state(NumberFormat::fp32, limits.matrix_peak_fp32_flop_per_s);
  state(NumberFormat::bf16, limits.matrix_peak_bf16_flop_per_s);
  state(NumberFormat::fp16, limits.matrix_peak_fp16_flop_per_s);
  state(NumberFormat::fp8, limits.matrix_peak_fp8_flop_per_s);
  state(NumberFormat::int8, limits.matrix_peak_int8_flop_per_s);
  state(NumberFormat::nvfp4, limits.matrix_peak_fp4_flop_per_s);
  return peaks;
}

std::optional<NumberFormat> computed_in(const DevicePeaks& peaks, NumberFormat format) {
  const auto known = [&peaks](NumberFormat one) { return peaks.matrix_peak_flop_per_s.contains(one); };
  if (known(format)) return format;
  if (format == NumberFormat::fp32) return std::nullopt;
  constexpr std::array wider{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32};
  const auto* found = std::ranges::find_if(wider, known);
  return found == wider.end() ? std::nullopt : std::optional(*found);
}

Attainable with(const AttainableOverrides& known, Attainable attainable) {
  const auto state = [](const std::optional<double>& stated, Range& range) {
    if (stated) range = {*stated, *stated, *stated};
  };
  state(known.bandwidth_efficiency, attainable.bandwidth_efficiency);
  state(known.compute_efficiency, attainable.compute_efficiency);
  state(known.step_us, attainable.step_us);
  state(known.iteration_us, attainable.iteration_us);
  return attainable;
}

Attained central(const Attainable& attainable) {
  return {.bandwidth_efficiency = attainable.bandwidth_efficiency.value,
          .compute_efficiency = attainable.compute_efficiency.value,
          .operator_us = attainable.operator_us.value,
          .step_us = attainable.step_us.value,
          .link_efficiency = attainable.link_efficiency.value,
          .all_reduce_us = attainable.all_reduce_us.value,
          .sharpness = attainable.sharpness.value,
          .vector_efficiency = attainable.vector_efficiency.value,
          .kv_reread = attainable.kv_reread.value};
}

Attainable with_slow_verification(Attainable attainable) {
  attainable.vector_efficiency.value = attainable.vector_efficiency.low;
  attainable.expert_skew.value = attainable.expert_skew.low;
  return attainable;
}

Attainable with_fast_verification(Attainable attainable) {
  attainable.vector_efficiency.value = attainable.vector_efficiency.high;
  attainable.expert_skew.value = attainable.expert_skew.high;
  return attainable;
}

namespace {

constexpr double us_per_s = 1e6;

/// Computing time in us: the time on matrix units or, if longer, the time of at most max_vector_tokens tokens on vector
/// units.
double computing_us(const StepOperator& one, const DevicePeaks& peaks, const Attained& attained) {
  const double matrix_us = us_per_s * one.flop / (attained.compute_efficiency * peak_of(peaks, one.compute));
  if (one.vector_flop == 0.0 || !attained.vector_efficiency) return matrix_us;
  const double peak = peak_of(peaks, NumberFormat::fp32);
  return std::max(matrix_us, us_per_s * one.vector_flop / (*attained.vector_efficiency * peak));
}

}  // namespace

Attained data_sheet_limits() { return {.sharpness = std::numeric_limits<double>::infinity()}; }

double operator_us(const StepOperator& one, std::int64_t devices, const DevicePeaks& peaks, const Attained& attained) {
  if (one.kind == OperatorKind::transfer) {
    return attained.all_reduce_us + us_per_s * one.bytes / (attained.link_efficiency * link_of(peaks));
  }
  if (one.kind == OperatorKind::all_reduce || one.kind == OperatorKind::all_gather) {
    const auto count = static_cast<double>(devices);
    const double link_bytes_per_us = attained.link_efficiency * link_of(peaks) / us_per_s;
    const double rounds = one.kind == OperatorKind::all_reduce ? 2.0 : 1.0;
    return attained.all_reduce_us + rounds * (count - 1.0) / count * one.bytes / link_bytes_per_us;
  }
  const double moving_us = us_per_s * (one.bytes + attained.kv_reread * one.reread_bytes) /
                           (attained.bandwidth_efficiency * peaks.memory_bandwidth_bytes_per_s);
  return attained.operator_us + smooth_maximum(moving_us, computing_us(one, peaks, attained), attained.sharpness);
}

double pass_us(const ForwardPassOperations& operations, const ForwardPassPoint& point, const DevicePeaks& peaks,
               const Attained& attained) {
  const double sum = sum_us(operations, point, [&](const StepOperator& one) {
    return operator_us(one, operations.devices(), peaks, attained);
  });
  return static_cast<double>(operations.passes(point)) * attained.step_us + sum;
}

double mixed_pass_us(const ForwardPassOperations& operations, const ForwardPassPoint& decoding,
                     const ForwardPassPoint& prompt, const DevicePeaks& peaks, const Attained& attained) {
  double us = attained.step_us;
  for (const StepOperator& one : equal_together(operations.mixed(decoding, prompt))) {
    us += one.count * operator_us(one, operations.devices(), peaks, attained);
  }
  return us;
}

PassParts pass_parts(const ForwardPassOperations& operations, const ForwardPassPoint& point, const DevicePeaks& peaks,
                     const Attained& attained) {
  std::array<double, step_parts> us{};
  PassParts parts{.passes = operations.passes(point)};
  for (std::int64_t pass = 0; pass < parts.passes; ++pass) {
    for (const StepOperator& one : operations.operators(point, pass)) {
      us.at(static_cast<std::size_t>(one.part)) += one.count * operator_us(one, operations.devices(), peaks, attained);
    }
  }
  const auto of = [&us](StepPart part) { return us.at(static_cast<std::size_t>(part)); };
  parts.inputs_us = of(StepPart::inputs);
  parts.layers_us = of(StepPart::layers);
  parts.vocabulary_us = of(StepPart::vocabulary);
  parts.overhead_us = static_cast<double>(parts.passes) * attained.step_us;
  return parts;
}

namespace {

constexpr double min_nvlink_bytes_per_s = 100e9;
constexpr std::array range_keys{"low", "value", "high"};

struct RangeKey {
  std::string_view key;
  Range Attainable::*range;
  double least;  ///< minimum valid number
};

constexpr std::array<RangeKey, 11> common_keys{{
    {"bandwidth_efficiency", &Attainable::bandwidth_efficiency, 1e-3},
    {"compute_efficiency", &Attainable::compute_efficiency, 1e-3},
    {"vector_efficiency", &Attainable::vector_efficiency, 1e-3},
    {"kv_reread", &Attainable::kv_reread, 0.0},
    {"expert_skew", &Attainable::expert_skew, 0.0},
    {"operator_us", &Attainable::operator_us, 0.0},
    {"sharpness", &Attainable::sharpness, 1.0},
    {"step_us", &Attainable::step_us, 0.0},
    {"step", &Attainable::step, 1e-3},
    {"verification", &Attainable::verification, 1e-3},
    {"iteration_us", &Attainable::iteration_us, 0.0},
}};
/// Keys that depend on the kind of link.
constexpr std::array<RangeKey, 2> link_keys{{
    {"all_reduce_us", &Attainable::all_reduce_us, 0.0},
    {"link_efficiency", &Attainable::link_efficiency, 1e-3},
}};

Range read_range(const toml::table& file, const std::string& path, double least, ProblemList& problems) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < range_keys.size(); ++i) {
    const std::string key = fmt::format("{}.{}", path, range_keys[i]);
    const auto node = file.at_path(key);
    const auto number = node.value<double>();
    if (!number || !(*number >= least)) {
      problems.add({.line = node ? static_cast<std::int64_t>(node.node()->source().begin.line) : 0,
                    .key = key,
                    .text = node ? "invalid number" : "missing",
                    .why = fmt::format("must be at least {}", least)});
      return {};
    }
    numbers[i] = *number;
  }
  if (!(numbers[0] <= numbers[1] && numbers[1] <= numbers[2])) {
    problems.add({.key = path, .text = "low, value and high are not in order"});
  }
  if (!file.at_path(path + ".source").value<std::string>()) {
    problems.add({.key = path + ".source", .text = "missing", .why = "every number needs its source"});
  }
  return {numbers[0], numbers[1], numbers[2]};
}

const AttainableFile& shipped() {
  static const AttainableFile file =
      parse_attainable(attainable_texts().front().text, "latency/attainable/attainable.toml");
  return file;
}

}  // namespace

AttainableFile parse_attainable(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  if (!check_toml_limits(text, problems)) throw DomainError(problems.text());
  AttainableFile read;
  try {
    const toml::table file = toml::parse(text, name);
    for (const RangeKey& one : common_keys) {
      read.nvlink.*one.range = read_range(file, std::string(one.key), one.least, problems);
    }
    read.pcie = read.nvlink;
    for (const RangeKey& one : link_keys) {
      read.nvlink.*one.range = read_range(file, fmt::format("{}.nvlink", one.key), one.least, problems);
      read.pcie.*one.range = read_range(file, fmt::format("{}.pcie", one.key), one.least, problems);
    }
  } catch (const toml::parse_error& error) {
    problems.add({static_cast<std::int64_t>(error.source().begin.line), "syntax", std::string(error.description())});
  }
  if (!problems.empty()) throw DomainError(problems.text());
  return read;
}

Attainable attainable_of(const DevicePeaks& peaks) {
  const bool nvlink = peaks.link_bandwidth_bytes_per_s.value_or(0.0) >= min_nvlink_bytes_per_s;
  return nvlink ? shipped().nvlink : shipped().pcie;
}

}  // namespace foredraft::latency
