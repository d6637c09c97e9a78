// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "foredraft/scenario_fwd.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

/// Simulates a scenario.
namespace foredraft::sim {

/// A prepared run. Throws DomainError for what scenario::check_scenario and check_read reject, for a plan that counts
/// nothing or too much, and for errors that only preparation finds; Interrupted when stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_simulator(const Scenario& scenario, const SimulationPlan& plan,
                                                        StopToken stop = {});

/// Maximum time of a replica of a server in s: about two years in ns.
inline constexpr double longest_replica_s = 1e-9 * static_cast<double>(std::int64_t{1} << 56U);

/// Maximum iterations with drafts of at most `gamma` tokens, or sequences of `tokens`: blocks must be numbered.
[[nodiscard]] std::uint64_t max_iterations(Path path, std::int64_t gamma);
[[nodiscard]] std::uint64_t max_sequences(double tokens);

/// Estimates from the merged tally of its blocks.
[[nodiscard]] Simulated estimates_of(const Scenario& scenario, const Tally& tally);

/// The exact acceptance of a token simulation whose iterations are i.i.d.: pooled contexts; NaN for any other.
[[nodiscard]] double pool_acceptance(const Scenario& scenario, const Simulator& simulator);

/// The metric optimal_acceptance: of pooled contexts and several independent candidates; NaN for any other.
[[nodiscard]] double pool_optimum(const Simulator& simulator);

}  // namespace foredraft::sim
