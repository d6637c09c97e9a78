// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "foredraft/scenario.hpp"

/// How long a pass of a model takes.
namespace foredraft::sim {

/// In microseconds, finite and not negative, for every shape that a run meets: a measured table, a formula. Called from
/// several threads at once.
using StepTime = std::function<double(const StepShape&)>;

}  // namespace foredraft::sim
