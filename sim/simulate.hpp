// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

/// The simulation of a scenario.
namespace foredraft::sim {

/// A prepared run. Throws DomainError for what only its preparation finds out, e.g. an alpha that a draft cannot reach,
/// and Interrupted when stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_simulator(const Scenario& scenario, const SimulationPlan& plan,
                                                        StopToken stop = {});

/// Times of a replica of a server add up to less, in s: about two years in ns.
inline constexpr double longest_replica_s = 1e-9 * static_cast<double>(std::int64_t{1} << 56U);

/// As many iterations, or sequences of `tokens`, as a run has room for: what its blocks can be numbered by. Drafts of
/// `gamma` tokens at most.
[[nodiscard]] std::uint64_t max_iterations(Path path, std::int64_t gamma);
[[nodiscard]] std::uint64_t max_sequences(double tokens);

/// What the merged tally of its blocks says.
[[nodiscard]] Simulated estimates_of(const Scenario& scenario, const Tally& tally);

/// The exact acceptance of a token simulation whose iterations are i.i.d.: pooled contexts; NaN for any other.
[[nodiscard]] double pool_acceptance(const Scenario& scenario, const Simulator& simulator);

}  // namespace foredraft::sim
