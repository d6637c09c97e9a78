// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/problems.hpp"
#include "experiments/config/sweep_config.hpp"

namespace foredraft::experiments {

/// Reads one key of [axes], a list or a range of numbers, into `axis`, whose parameter is set. Returns how many values
/// it has, as a double: an absurdly long range is counted and refused, not listed. Nothing, with the problem told,
/// where it is wrong otherwise.
[[nodiscard]] std::optional<double> read_axis(const scenario::Node& node, const std::string& key, scenario::Axis& axis,
                                              ProblemList& problems);

}  // namespace foredraft::experiments
