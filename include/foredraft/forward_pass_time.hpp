// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

/// The time of a forward pass on a device, and where it comes from.
namespace foredraft {

/// Where the times of a profile come from; a profile has one source.
enum class ProfileSource {
  measured,   ///< by `foredraft calibrate`
  datasheet,  ///< the manufacturer's peaks
  user,       ///< decode steps that the user measured in an engine
  engine,     ///< decode steps that an engine measured while serving
  operators,  ///< decode steps that are sums of operator times, each measured in an engine
};

/// How a time was obtained, most accurate first: a point of the profile, interpolation between points, a latency model
/// fitted to the profile, the device's limits.
enum class TimeOrigin { measured, interpolated, fitted, roofline };

[[nodiscard]] std::string_view to_string(ProfileSource source);
[[nodiscard]] std::string_view to_string(TimeOrigin origin);

struct ForwardPassTime {
  double time_us = 0.0;
  /// Half width of the 95 % interval (90 % for data sheets and operators) divided by the time. For estimated times it
  /// includes the error of interpolation or of held-out shapes. Empty if unknown: for decode steps from a user or an
  /// engine, operators without a stated error, and the lower bound of a data sheet.
  std::optional<double> spread = {};
  TimeOrigin origin = TimeOrigin::measured;
  bool inside = true;  ///< within the domain of its origin
};

}  // namespace foredraft

#pragma GCC visibility pop
