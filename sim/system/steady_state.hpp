// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foredraft/server.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Why the measured requests of a server are not in a steady state, and how many requests are needed, in one sentence;
/// empty if no test fails. With continuous batching, the warm-up must have twice the requests served at once. Requests
/// in the system and throughput must not differ between the halves of the windows by more than 5 % and four standard
/// errors over the replicas, or by more than 20 % if there are too few replicas. In short windows, only a queue that
/// grows by more than 20 % fails.
[[nodiscard]] std::string unsteady(const Server& server, const ServingTally& tally);

}  // namespace foredraft::sim
