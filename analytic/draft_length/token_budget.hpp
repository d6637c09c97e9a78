// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// A budget of verified tokens for a batch, spent on the drafts most likely to be accepted. Engines call this adaptive
/// or confidence-scheduled verification.
namespace foredraft::analytic {

/// survival[r][i]: probability that draft i + 1 of request r and all before it are accepted; in [0, 1], not increasing.
using Survival = std::vector<std::vector<double>>;

/// Time of an iteration that verifies `tokens` tokens over all requests, in any unit, > 0.
using BudgetTime = std::function<double(std::int64_t tokens)>;

struct TokenBudget {
  std::vector<std::int64_t> verified;  ///< verified drafts of each request
  double tokens;                       ///< emitted per iteration by all requests
  double rate;                         ///< tokens divided by the iteration's time
};

/// The number k_r of drafts of each of R requests that maximizes sum_r (1 + sum_{i<=k_r} s_{r,i}) / T(R + sum_r k_r).
/// For each total, the best choice takes the largest survivals, so each total is tried once; ties go to the smaller
/// total. Throws DomainError for invalid survivals and for times that are not positive.
[[nodiscard]] TokenBudget best_budget(const Survival& survival, const BudgetTime& time);

/// The best number of drafts that is the same for all requests: k = 0, 1, ... up to the longest draft.
[[nodiscard]] TokenBudget best_fixed(const Survival& survival, const BudgetTime& time);

}  // namespace foredraft::analytic
