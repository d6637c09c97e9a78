// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

/// How long a pass of a model takes.
namespace foredraft::sim {

/// One pass over a batch.
struct StepShape {
  std::int64_t batch;   ///< rows
  std::int64_t tokens;  ///< new tokens of each row
  double context;       ///< tokens in the cache of a row, mean over the rows
  bool prompt = false;  ///< reads prompts, before the first iteration of these rows
};

/// In microseconds, finite and not negative, for every shape that a run meets: a measured table, a formula. Called from
/// several threads at once.
using StepTime = std::function<double(const StepShape&)>;

/// A pass that first reads the weights and the cache and computes meanwhile: it takes the longer of the two.
/// [Williams2009]
struct RooflineStep {
  double launch_us = 0.0;   ///< paid whatever the pass does
  double weights_us = 0.0;  ///< reading the weights
  double context_us = 0.0;  ///< reading one cached token of one row
  double token_us = 0.0;    ///< computing one new token of one row

  double operator()(const StepShape& shape) const {
    const auto batch = static_cast<double>(shape.batch);
    const double reading = weights_us + context_us * batch * shape.context;
    const double computing = token_us * batch * static_cast<double>(shape.tokens);
    return launch_us + std::max(reading, computing);
  }
};

}  // namespace foredraft::sim
