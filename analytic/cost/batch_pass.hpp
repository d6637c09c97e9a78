// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace foredraft::analytic {

/// A pass of a model over a batch that computes while it reads: it takes the longer of the two. All >= 0, in any one
/// unit of time. [Williams2009]
struct BatchPass {
  double launch;   ///< paid whatever the pass does
  double weights;  ///< reading the weights
  double context;  ///< reading one cached token of one row
  double token;    ///< computing one new token of one row
};

/// launch + max(weights + context * rows * cached, token * rows * tokens): `rows` >= 1 of `tokens` >= 1 new tokens each
/// and `cached` >= 0 earlier ones.
[[nodiscard]] double pass_time(const BatchPass& pass, std::int64_t rows, std::int64_t tokens, double cached);

}  // namespace foredraft::analytic
