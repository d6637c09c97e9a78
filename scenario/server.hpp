// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/server.hpp"
#include "foredraft/value.hpp"
#include "foredraft/words.hpp"

namespace foredraft::scenario {

[[nodiscard]] std::vector<GammaRange> gamma_ranges(const Schedule& schedule);

/// gamma at [batch], for batches 1 to max_batch; [0] is that of batch 1. Throws DomainError unless the ranges start at
/// 1, follow each other without gap or overlap, reach max_batch, and hold legal gammas of at most max_serving_gamma.
[[nodiscard]] std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                                       Convention convention);

/// The schedule of a server; gamma at every batch where it has none.
[[nodiscard]] std::vector<GammaRange> gamma_of_batches(const Server& server, std::int64_t gamma);

/// Whether the answers of a server can have it: a Markov chain cannot, but Runs without spread and with rho 1 are one.
[[nodiscard]] bool serves(const AcceptanceProcess& acceptance);

/// Whether it goes with rows that wait for each other: Runs say nothing of accepted drafts that are thrown away.
[[nodiscard]] bool goes_with(const AcceptanceProcess& acceptance, Batching batching);

/// Throws DomainError unless it serves, with numbers in their ranges and an entry for each of `longest` drafts, and
/// goes with batching and convention.
void check_server_acceptance(const AcceptanceProcess& acceptance, std::int64_t longest, Batching batching,
                             Convention convention);

/// Throws DomainError, naming the count `name`, unless every length is a whole number from `shortest` to 1e9.
void check_token_count(std::string_view name, const TokenCount& count, std::int64_t shortest);

}  // namespace foredraft::scenario
