// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/scenario.hpp"
#include "foredraft/words.hpp"

/// Optimal stopping: the minimum probability for one more draft.
namespace foredraft::sim {

/// The price, c * the best long-run speedup: one more draft pays if its token is emitted with a probability above it.
/// Found by iterating over the possible acceptances: one sequence (Iid, Positional), or 2,048 values of alpha at the
/// centers of slices of equal probability (BetaMixture), which determine the price to about 1e-4.
[[nodiscard]] double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c,
                                    Convention convention);

/// The same if each token's acceptance probability is drawn from Beta(alpha s, (1 - alpha) s), s the concentration.
/// Found from 2^15 sequences of tokens (fewer if they are long), which determine the price to about 0.5 %.
[[nodiscard]] double stopping_price_of_tokens(double alpha, double concentration, std::int64_t gamma, double c,
                                              Convention convention);

/// Draft length at this price, at most gamma, for constant acceptance and for Iid and Positional processes.
[[nodiscard]] std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention);
[[nodiscard]] std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                                           Convention convention);

}  // namespace foredraft::sim
