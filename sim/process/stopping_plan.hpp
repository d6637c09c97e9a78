// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/words.hpp"
#include "sim/process/process_simulation.hpp"

/// What an optimally stopping drafter needs to know before it drafts: what one more draft must be worth.
namespace foredraft::sim {

/// The next draft is worth its time while its token comes with a chance above `price` = c * the best long-run speedup.
/// Found by going through what the drafter can meet: one sequence of acceptances (Iid, Positional), or 2,048 values of
/// alpha in the middle of equal slices of its law (BetaMixture), which settle the price to about 1e-4.
[[nodiscard]] double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c,
                                    Convention convention);

/// Drafts that an iteration of constant acceptance makes at this price, at most gamma.
[[nodiscard]] std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention);

/// The same for the acceptances of Iid and Positional processes.
[[nodiscard]] std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                                           Convention convention);

}  // namespace foredraft::sim
