// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "foredraft/scenario_fwd.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

/// Simulates a scenario.
namespace foredraft::sim {

/// Prepares a run. Throws DomainError as scenario::check_scenario and check_read do, for a plan that counts nothing or
/// too much, and for errors found during preparation; Interrupted when stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_simulator(const Scenario& scenario, const SimulationPlan& plan,
                                                        StopToken stop = {});

/// Maximum time of a replica of a server in s: about two years in ns.
inline constexpr double longest_replica_s = 1e-9 * static_cast<double>(std::int64_t{1} << 56U);

/// Maximum iterations with drafts of at most `gamma` tokens, or sequences of `tokens`; limited by the number of blocks.
[[nodiscard]] std::uint64_t max_iterations(Path path, std::int64_t gamma);
[[nodiscard]] std::uint64_t max_sequences(double tokens);

/// Estimates from the merged tally of all blocks.
[[nodiscard]] Simulated estimates_of(const Scenario& scenario, const Tally& tally);

/// The exact acceptance of a token simulation with i.i.d. iterations (pooled contexts); NaN for others.
[[nodiscard]] double pool_acceptance(const Scenario& scenario, const Simulator& simulator);

/// The metric optimal_acceptance for pooled contexts and several independent candidates; NaN for others.
[[nodiscard]] double pool_optimum(const Simulator& simulator);

}  // namespace foredraft::sim
