// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario_fwd.hpp"

#pragma GCC visibility push(default)

/// Monte-Carlo simulation of a scenario.
namespace foredraft {

/// How random draws are used.
enum class Path {
  reference,  ///< one draw per drafted token; validates the closed forms
  fast,       ///< one draw per iteration if the process allows it; the same distribution
};

/// Instead of a number of requests, replicas or warm-up requests: choose it from the load. With n requests served at
/// once, a warm-up has 4 n + 16 requests, and each of 32 replicas measures 4 n, at least 8 and at least 2,000 over all
/// replicas. If the number of requests is given, there are 8 to 32 replicas, but at most as many as requests.
inline constexpr std::uint64_t as_load_needs = std::uint64_t{1} << 62U;

/// How much is simulated.
struct SimulationPlan {
  std::uint64_t iterations = 0;  ///< 0 if the plan counts sequences or requests
  std::uint64_t sequences = 0;   ///< 0 if the plan does not count sequences
  std::uint64_t seed = 1;
  Path path = Path::fast;
  // For a server; each may be as_load_needs.
  std::uint64_t requests = 0;  ///< measured, over all replicas
  std::uint64_t replicas = 0;
  std::uint64_t warmup_requests = 0;  ///< served before the measured ones in each replica
};

/// The result of a simulation.
struct Simulated {
  Estimates estimates;
  std::uint64_t iterations = 0;
  std::uint64_t units = 0;    ///< independent units that the standard errors rest on
  std::string unsteady = {};  ///< server: why the estimates are not those of a steady state, and what to set; else ""
};

/// Runs the plan. The result depends only on scenario, plan and seed, not on the number of threads (0: one per hardware
/// thread). Estimates that do not apply to the scenario are NaN. Set `stop` to end the run soon; null: it cannot be
/// stopped. Throws DomainError as predict() does, for a plan that counts nothing, and for problems found during
/// preparation, such as an alpha that no draft distribution reaches; RunError if threads cannot be started; Interrupted
/// when stopped.
[[nodiscard]] Simulated simulate(const Scenario& scenario, const SimulationPlan& plan, unsigned threads = 0,
                                 const std::atomic<bool>* stop = nullptr);

}  // namespace foredraft

#pragma GCC visibility pop
