// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/cost/load_equilibrium.hpp"

namespace foredraft::analytic {

/// Means of a server that is always full: a request that ends is replaced at once.
struct ClosedLoop {
  double requests_per_us;
  double batch;     ///< sequences of an iteration
  double decoding;  ///< requests that decode, averaged over time
  double iteration_us;
  double ttft_us, decode_us;  ///< of a request
  IterationParts parts;       ///< proportional to the parts of the time of an iteration
};

/// `places`: requests in the server, at most max_batch.
[[nodiscard]] ClosedLoop closed_loop(const ServedLoad& load, std::int64_t places);

}  // namespace foredraft::analytic
