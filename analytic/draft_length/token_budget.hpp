// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// One budget of verified tokens for a batch, spent where drafts are most likely to be accepted: what engines call
/// adaptive or confidence-scheduled verification.
namespace foredraft::analytic {

/// survival[r][i]: probability that draft i + 1 of request r and all before it are accepted; in [0, 1], not increasing.
using Survival = std::vector<std::vector<double>>;

/// Time of an iteration whose target pass verifies so many tokens of all requests, in one unit, > 0.
using BudgetTime = std::function<double(std::int64_t tokens)>;

struct TokenBudget {
  std::vector<std::int64_t> verified;  ///< drafts of each request
  double tokens;                       ///< emitted in an iteration by all requests
  double rate;                         ///< tokens over time
};

/// The drafts of each request that maximise sum_r (1 + sum_{i<=k_r} s_{r,i}) / T(R + sum_r k_r), R requests. For each
/// total the best choice takes the largest survivals, so that every total is tried once; ties go to the smaller total.
/// Throws DomainError for survivals that are no such probabilities and for times that are not positive.
[[nodiscard]] TokenBudget best_budget(const Survival& survival, const BudgetTime& time);

/// The best fixed number of drafts for all: k = 0, 1, ... up to the longest draft.
[[nodiscard]] TokenBudget best_fixed(const Survival& survival, const BudgetTime& time);

}  // namespace foredraft::analytic
