// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/step_model.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <limits>

#include "core/check.hpp"
#include "latency/surfaces/latency_model.hpp"

namespace foredraft::latency {
namespace {

/// A parameter with its range, and whether a larger one makes passes faster.
struct Parameter {
  const char* name;
  Range Attainable::*range;
  double Attained::*value;
  bool efficiency;
};

constexpr std::array<Parameter, 6> parameters_of_box{{
    {"bandwidth_efficiency", &Attainable::bandwidth_efficiency, &Attained::bandwidth_efficiency, true},
    {"compute_efficiency", &Attainable::compute_efficiency, &Attained::compute_efficiency, true},
    {"operator_us", &Attainable::operator_us, &Attained::operator_us, false},
    {"step_us", &Attainable::step_us, &Attained::step_us, false},
    {"link_efficiency", &Attainable::link_efficiency, &Attained::link_efficiency, true},
    {"link_latency_us", &Attainable::link_latency_us, &Attained::link_latency_us, false},
}};

/// The point that `choose` takes from each range.
template <typename Choose>
Attained point_of(const Attainable& attainable, Choose&& choose) {
  Attained point;
  for (const Parameter& one : parameters_of_box) point.*one.value = choose(one, attainable.*one.range);
  point.sharpness = attainable.sharpness;
  return point;
}

double peak_of(const DevicePeaks& peaks, NumberFormat format) {
  const auto found = peaks.matrix_peak_flop_per_s.find(format);
  if (found != peaks.matrix_peak_flop_per_s.end()) return found->second;
  throw DomainError(fmt::format(
      "{}: no matrix peak of {} is known (matrices in this format compute in it) - take another weight format, "
      "or state the peak in a device file",
      peaks.device, to_string(format)));
}

double link_of(const DevicePeaks& peaks) {
  if (peaks.link_bandwidth_bytes_per_s) return *peaks.link_bandwidth_bytes_per_s;
  throw DomainError(fmt::format(
      "{}: no link between devices is known (tensor parallelism sums over it) - take tensor_parallel 1, or state the "
      "link in a device file",
      peaks.device));
}

double all_reduce_us(double bytes, double devices, double bytes_per_us, double latency_us) {
  const double others = devices - 1.0;
  const double ring_us = 2.0 * others * (latency_us + bytes / devices / bytes_per_us);
  const double one_shot_us = latency_us + others * bytes / bytes_per_us;
  return std::min(ring_us, one_shot_us);
}

double all_gather_us(double bytes, double devices, double bytes_per_us, double latency_us) {
  return latency_us + (devices - 1.0) / devices * bytes / bytes_per_us;
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

const Attainable& provisional_attainable() {
  static const Attainable provisional{
      .bandwidth_efficiency = {0.70, 0.80, 0.90},
      .compute_efficiency = {0.50, 0.70, 0.85},
      .operator_us = {1.0, 3.0, 5.0},
      .step_us = {},
      .link_efficiency = {0.70, 0.80, 0.90},
      .link_latency_us = {0.6, 1.9, 3.4},
      .sharpness = std::numeric_limits<double>::infinity(),
      .source =
          "provisional: bandwidth x 0.8 and 3 us an operator as aiconfigurator corrects its rooflines, ranges and "
          "compute assumed; links as memory, hops as NCCL's src/graph/tuning.cc, NVLink ring: LL, LL128, Simple"};
  return provisional;
}

void check_attainable(const Attainable& attainable) {
  for (const Parameter& one : parameters_of_box) {
    const Range& range = attainable.*one.range;
    if (one.efficiency) {
      check_positive(one.name, range.low);
    } else {
      check_nonnegative(one.name, range.low);
    }
    check_nonnegative(one.name, range.high);
    if (!(range.low <= range.value && range.value <= range.high)) {
      throw DomainError(
          fmt::format("invalid {}={} (must lie in its range, {} to {})", one.name, range.value, range.low, range.high));
    }
  }
  if (!(attainable.sharpness > 1.0)) {
    throw DomainError(fmt::format("invalid sharpness={} (must be above 1)", attainable.sharpness));
  }
}

Attained central(const Attainable& attainable) {
  return point_of(attainable, [](const Parameter&, const Range& range) { return range.value; });
}

Attained fastest(const Attainable& attainable) {
  return point_of(attainable,
                  [](const Parameter& one, const Range& range) { return one.efficiency ? range.high : range.low; });
}

Attained slowest(const Attainable& attainable) {
  return point_of(attainable,
                  [](const Parameter& one, const Range& range) { return one.efficiency ? range.low : range.high; });
}

std::vector<Attained> corners(const Attainable& attainable) {
  std::vector<Attained> all{central(attainable)};
  for (const Parameter& one : parameters_of_box) {
    const Range& range = attainable.*one.range;
    if (range.low == range.high) continue;
    const std::size_t half = all.size();
    all.insert(all.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(half));
    for (std::size_t i = 0; i < half; ++i) {
      all[i].*one.value = range.low;
      all[half + i].*one.value = range.high;
    }
  }
  return all;
}

Attained data_sheet_limits() { return {.sharpness = std::numeric_limits<double>::infinity()}; }

double step_us(const std::vector<StepOperator>& operators, std::int64_t devices, const DevicePeaks& peaks,
               const Attained& attained) {
  constexpr double us_per_s = 1e6;
  const auto count = static_cast<double>(devices);
  const double bytes_per_us = attained.bandwidth_efficiency * peaks.memory_bandwidth_bytes_per_s / us_per_s;
  double sum_us = attained.step_us;
  for (const StepOperator& one : operators) {
    double one_us = 0.0;
    if (one.kind == OperatorKind::all_reduce || one.kind == OperatorKind::all_gather) {
      const double link_bytes_per_us = attained.link_efficiency * link_of(peaks) / us_per_s;
      const auto collective = one.kind == OperatorKind::all_reduce ? all_reduce_us : all_gather_us;
      one_us = collective(one.bytes, count, link_bytes_per_us, attained.link_latency_us);
    } else {
      const double flop_per_us = attained.compute_efficiency * peak_of(peaks, one.compute) / us_per_s;
      one_us =
          attained.operator_us + smooth_maximum(one.bytes / bytes_per_us, one.flop / flop_per_us, attained.sharpness);
    }
    sum_us += one.count * one_us;
  }
  return sum_us;
}

LatencyModel latency_model(const DevicePeaks& peaks, NumberFormat format, const Attained& attained) {
  const double peak = attained.compute_efficiency * peak_of(peaks, format);
  return {.launch_us = attained.operator_us,
          .input_us = 0.0,
          .bandwidth_bytes_per_s = attained.bandwidth_efficiency * peaks.memory_bandwidth_bytes_per_s,
          .peak_flop_per_s = peak,
          .sharpness = attained.sharpness,
          .attend_launch_us = attained.operator_us,
          .attend_peak_flop_per_s = peak};
}

StepTime step_time(const std::vector<StepOperator>& operators, std::int64_t devices, const DevicePeaks& peaks,
                   const Attainable& attainable) {
  check_attainable(attainable);
  return {.low_us = step_us(operators, devices, peaks, fastest(attainable)),
          .us = step_us(operators, devices, peaks, central(attainable)),
          .high_us = step_us(operators, devices, peaks, slowest(attainable))};
}

}  // namespace foredraft::latency
