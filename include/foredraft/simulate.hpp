// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

#pragma GCC visibility push(default)

/// Monte-Carlo simulation of a scenario.
namespace foredraft {

/// How the random draws are spent.
enum class Path {
  reference,  ///< one draw per drafted token: what validates the closed forms
  fast,       ///< one draw per iteration where the process allows it; the same law
};

/// How much is simulated.
struct SimulationPlan {
  std::uint64_t iterations = 0;  ///< 0 where sequences or requests are counted instead
  std::uint64_t sequences = 0;   ///< 0 where they are not counted
  std::uint64_t seed = 1;
  Path path = Path::fast;
  // Of a server.
  std::uint64_t requests = 0;  ///< measured, over all replicas
  std::uint64_t replicas = 0;
  std::uint64_t warmup_requests = 0;  ///< served first in each replica
};

/// What a simulation counted.
struct Simulated {
  Estimates estimates;
  std::uint64_t iterations = 0;
  std::uint64_t units = 0;  ///< independent units behind the standard errors
};

/// Runs the plan: a function of scenario, plan and seed alone, whatever the number of threads (0: one per hardware
/// thread). Estimates of what the scenario does not have are NaN. `stop` is set from outside to end the run soon; null:
/// nobody does. Throws DomainError as predict() does, for a plan that counts nothing, and on what only a preparation
/// finds out, such as an acceptance that no draft can reach; RunError where threads cannot be started; Interrupted when
/// stopped.
[[nodiscard]] Simulated simulate(const Scenario& scenario, const SimulationPlan& plan, unsigned threads = 0,
                                 const std::atomic<bool>* stop = nullptr);

}  // namespace foredraft

#pragma GCC visibility pop
