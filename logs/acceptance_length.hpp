// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "foredraft/quantities.hpp"
#include "logs/observation.hpp"

namespace foredraft::logs {

/// Tokens per iteration of all counts together, 1 + accepted / steps, with its standard error: observations are taken
/// for independent where there are ten at least; below, steps are, which needs positions, and without those it is NaN.
/// Nothing where no steps were counted.
[[nodiscard]] std::optional<Estimate> acceptance_length(std::span<const Observation> observations);

}  // namespace foredraft::logs
