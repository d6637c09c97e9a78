// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "latency/profile/latency_fit.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/pass_work.hpp"

namespace foredraft::latency {

/// A way of running passes: what must agree between times that are compared.
struct Setting {
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;

  auto operator<=>(const Setting&) const = default;
};

/// The settings of a profile's steps, in the order of their first rows.
[[nodiscard]] std::vector<Setting> settings_of(const Profile& profile);

/// Fewer whole shapes than this cannot be held out and still be fitted to.
inline constexpr std::int64_t fewest_fitted_shapes = 3;

/// Fits LatencyModel to the steps of the models in `shapes` and to the kernels "project" of `profile`,
/// least squares of
/// log(predicted / measured). The error is that of a cross-validation over at most 5 parts of the
/// shapes; with `resamples` > 0 the parameters get intervals, else each is the point itself. Nothing with fewer than
/// fewest_fitted_shapes shapes.
[[nodiscard]] std::optional<LatencyFit> fit_latency(const Profile& profile, const std::vector<ModelShape>& shapes,
                                                    const Setting& setting, std::int64_t resamples);

/// The fits of all settings of a profile that can be fitted: what a measuring program writes into it at its end.
[[nodiscard]] std::vector<LatencyFit> fit_latencies(const Profile& profile, const std::vector<ModelShape>& shapes);

}  // namespace foredraft::latency
