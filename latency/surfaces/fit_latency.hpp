// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/profile/profile.hpp"

/// Latency model: times computed from bytes and flop.
namespace foredraft::latency {

/// (a^p + b^p)^(1/p) of times >= 0: their maximum for p = infinity.
[[nodiscard]] inline double smooth_maximum(double a, double b, double p) {
  const double longer = std::max(a, b);
  const double shorter = std::min(a, b);
  if (std::isinf(p) || shorter == 0.0) return longer;
  return longer * std::pow(1.0 + std::pow(shorter / longer, p), 1.0 / p);
}

/// Time of one operator of a pass on one device, by the formula of LatencyModel.
[[nodiscard]] inline double operator_us(const LatencyModel& model, const StepOperator& one) {
  const bool attends = one.kind == OperatorKind::attention;
  const double moving_us = 1e6 * one.bytes / model.bandwidth_bytes_per_s;
  const double computing_us = 1e6 * one.flop / (attends ? model.attend_peak_flop_per_s : model.peak_flop_per_s);
  const double start_us = (attends ? model.attend_launch_us : model.launch_us) + model.input_us * one.inputs;
  return start_us + smooth_maximum(moving_us, computing_us, model.sharpness);
}

/// Time of a pass: the sum over its operators. Throws DomainError as ForwardPassOperations::operators.
[[nodiscard]] double pass_us(const LatencyModel& model, const ForwardPassOperations& operations,
                             const ForwardPassPoint& point);

/// A deployment on one device with everything in `dtype` ("fp16"). Throws DomainError for an unknown word.
[[nodiscard]] Deployment deployment_in(std::string_view dtype);

/// The operations of a measured pass. The context may exceed the model's maximum. Throws DomainError as deployment_in
/// and ForwardPassOperations.
[[nodiscard]] ForwardPassOperations measured_operations(ModelShape shape, Role role, std::string_view dtype,
                                                        std::int64_t source_length);

/// The roofline of a device's limits: each operation takes the maximum of bytes / bandwidth and flop / matrix peak of
/// `dtype`, plus one launch (0 if unknown). nullopt if bandwidth or peak is unknown.
[[nodiscard]] std::optional<LatencyModel> roofline(const Limits& limits, std::string_view dtype);

/// A setting of measured passes. Only times with equal settings are compared.
struct Setting {
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;

  auto operator<=>(const Setting&) const = default;
};

/// The setting of a cell or a fit.
template <typename Row>
[[nodiscard]] Setting setting_of(const Row& row) {
  return {row.dtype, row.cache, row.launch};
}

/// The settings of a profile's steps, in the order of their first rows.
[[nodiscard]] std::vector<Setting> settings_of(const Profile& profile);

/// Minimum number of shapes for a fit with held-out shapes.
inline constexpr std::int64_t min_fitted_shapes = 3;

/// Fits LatencyModel to the steps of the models in `shapes` and to the kernels "project" of `profile`, by least squares
/// of log(predicted / measured). The error comes from cross-validation over shapes with at most 5 folds. Intervals of
/// the parameters need `resamples` > 0; otherwise they have width 0. nullopt for fewer than min_fitted_shapes shapes.
[[nodiscard]] std::optional<LatencyFit> fit_latency(const Profile& profile, const std::vector<ModelShape>& shapes,
                                                    const Setting& setting, std::int64_t resamples);

/// The fits of all settings of a profile that have enough shapes. Measuring programs add them to the profile at the
/// end.
[[nodiscard]] std::vector<LatencyFit> fit_latencies(const Profile& profile, const std::vector<ModelShape>& shapes);

}  // namespace foredraft::latency
