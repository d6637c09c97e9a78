// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foredraft/server.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Why the measured requests of a server are not in a steady state, and how many requests are needed, in one sentence;
/// empty if no test fails. With continuous batching, unless arrivals are recorded, the warm-up must have about twice
/// the requests served at once. Requests in the system and throughput must not differ between the halves of the windows
/// by more than 5 % and four standard errors over the replicas, or by more than 20 % if there are fewer than 4
/// replicas. In windows of fewer than 64 requests, or of fewer than 16 times the requests served at once, this fails
/// only for a number in the system that also grows by more than 20 %.
[[nodiscard]] std::string unsteady(const Server& server, const ServingTally& tally);

}  // namespace foredraft::sim
