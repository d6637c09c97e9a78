// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waiting at a server that takes requests one at a time.
namespace foredraft::analytic {

/// The time that a request takes, without waiting; in any one unit.
struct ServiceTime {
  double mean;           ///< > 0
  double second_moment;  ///< E[S^2] >= mean^2
};

/// Mean wait before service under Poisson arrivals of `arrival_rate` >= 0 requests per unit of time, in that unit:
/// arrival_rate E[S^2] / (2 (1 - load)), load = arrival_rate E[S]. For a constant service time load mean / (2 (1 -
/// load)). Infinite for load >= 1. [Pollaczek1930]
[[nodiscard]] double poisson_queue_wait(double arrival_rate, const ServiceTime& service);

}  // namespace foredraft::analytic
