// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foredraft/server.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Why the measured requests of a server were not those of a steady state, and how many it takes, in one sentence;
/// empty if nothing speaks against it. The warm-up of a continuous batch must have twice the requests that are served
/// at once, and between the two halves of the windows neither throughput nor requests in the system may differ: by more
/// than 5 % and four standard errors over the replicas, or by more than 20 % where there are too few replicas to tell.
[[nodiscard]] std::string unsteady(const Server& server, const ServingTally& tally);

}  // namespace foredraft::sim
