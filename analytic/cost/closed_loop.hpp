// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/cost/load_equilibrium.hpp"

namespace foredraft::analytic {

/// Of the sequences in iterations, by places that are always taken.
struct ClosedLoop {
  double requests_per_us, batch, decoding, iteration_us, ttft_us, decode_us;
  IterationParts parts;  ///< of the time of an iteration
};

/// `places`: at most max_batch. See load_equilibrium.hpp.
[[nodiscard]] ClosedLoop closed_loop(const ServedLoad& load, std::int64_t places);

}  // namespace foredraft::analytic
