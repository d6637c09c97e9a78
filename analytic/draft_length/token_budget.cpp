// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/token_budget.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

struct DraftChance {
  double survival;
  std::size_t draft, request;
};

/// Largest first, so that the drafts of a request come in their order.
std::vector<DraftChance> chances_of(const Survival& survival) {
  if (survival.empty()) throw DomainError("invalid survival: no request");
  std::vector<DraftChance> chances;
  for (std::size_t r = 0; r < survival.size(); ++r) {
    double before = 1.0;
    for (std::size_t i = 0; i < survival[r].size(); ++i) {
      const double one = survival[r][i];
      check_probability("survival", one);
      if (one > before) throw DomainError("invalid survival: rises along a request");
      before = one;
      chances.push_back({one, i, r});
    }
  }
  std::ranges::sort(chances, [](const DraftChance& a, const DraftChance& b) {
    if (a.survival != b.survival) return a.survival > b.survival;
    return a.draft != b.draft ? a.draft < b.draft : a.request < b.request;
  });
  return chances;
}

double rate_of(double tokens, std::int64_t verified, const BudgetTime& time) {
  const double one = time(verified);
  check_positive("time", one);
  return tokens / one;
}

}  // namespace

TokenBudget best_budget(const Survival& survival, const BudgetTime& time) {
  const std::vector<DraftChance> chances = chances_of(survival);
  const auto requests = static_cast<std::int64_t>(survival.size());
  double tokens = static_cast<double>(requests);
  TokenBudget best{.verified = {}, .tokens = tokens, .rate = rate_of(tokens, requests, time)};
  std::size_t taken = 0;
  for (std::size_t n = 1; n <= chances.size(); ++n) {
    tokens += chances[n - 1].survival;
    const double rate = rate_of(tokens, requests + static_cast<std::int64_t>(n), time);
    if (!(rate > best.rate)) continue;
    best.tokens = tokens;
    best.rate = rate;
    taken = n;
  }
  best.verified.assign(survival.size(), 0);
  for (std::size_t n = 0; n < taken; ++n) ++best.verified[chances[n].request];
  return best;
}

TokenBudget best_fixed(const Survival& survival, const BudgetTime& time) {
  static_cast<void>(chances_of(survival));
  const auto requests = static_cast<std::int64_t>(survival.size());
  std::size_t longest = 0;
  for (const auto& request : survival) longest = std::max(longest, request.size());
  TokenBudget best{.verified = {}, .tokens = 0.0, .rate = -std::numeric_limits<double>::infinity()};
  double tokens = static_cast<double>(requests);
  for (std::size_t k = 0; k <= longest; ++k) {
    for (const auto& request : survival) {
      if (k > 0 && k <= request.size()) tokens += request[k - 1];
    }
    const double rate = rate_of(tokens, requests * (1 + static_cast<std::int64_t>(k)), time);
    if (!(rate > best.rate)) continue;
    best = {.verified = std::vector<std::int64_t>(survival.size(), static_cast<std::int64_t>(k)),
            .tokens = tokens,
            .rate = rate};
  }
  return best;
}

}  // namespace foredraft::analytic
