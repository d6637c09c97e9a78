// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/token_budget.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_survival(const Survival& survival) {
  check_at_least("requests", static_cast<std::int64_t>(survival.size()), 1);
  for (const std::vector<double>& request : survival) {
    double before = 1.0;
    for (const double accepted : request) {
      check_probability("survival", accepted);
      if (accepted > before) throw DomainError("invalid survival (must not increase along a draft)");
      before = accepted;
    }
  }
}

double checked_time(const BudgetTime& time, std::int64_t tokens) {
  const double taken = time(tokens);
  check_positive("time", taken);
  return taken;
}

}  // namespace

TokenBudget best_budget(const Survival& survival, const BudgetTime& time) {
  check_survival(survival);
  struct Draft {
    double survival;
    std::size_t position, request;
  };
  std::vector<Draft> drafts;
  for (std::size_t request = 0; request < survival.size(); ++request) {
    for (std::size_t i = 0; i < survival[request].size(); ++i) drafts.push_back({survival[request][i], i, request});
  }
  // Among equal ones, earlier drafts of a request come first, so that drafts have no gaps.
  std::ranges::sort(drafts, [](const Draft& a, const Draft& b) {
    return std::tuple(-a.survival, a.position, a.request) < std::tuple(-b.survival, b.position, b.request);
  });
  const auto requests = static_cast<std::int64_t>(survival.size());
  double tokens = static_cast<double>(requests);
  TokenBudget best{.verified = std::vector<std::int64_t>(survival.size()),
                   .tokens = tokens,
                   .rate = tokens / checked_time(time, requests)};
  std::size_t most = 0;
  for (std::size_t drafted = 1; drafted <= drafts.size(); ++drafted) {
    tokens += drafts[drafted - 1].survival;
    const double rate = tokens / checked_time(time, requests + static_cast<std::int64_t>(drafted));
    if (rate <= best.rate) continue;
    best.tokens = tokens;
    best.rate = rate;
    most = drafted;
  }
  for (std::size_t i = 0; i < most; ++i) ++best.verified[drafts[i].request];
  return best;
}

TokenBudget best_fixed(const Survival& survival, const BudgetTime& time) {
  check_survival(survival);
  TokenBudget fixed{.verified = std::vector<std::int64_t>(survival.size()),
                    .tokens = static_cast<double>(survival.size()),
                    .rate = 0.0};
  auto verified = static_cast<std::int64_t>(survival.size());
  fixed.rate = fixed.tokens / checked_time(time, verified);
  TokenBudget best = fixed;
  for (std::size_t i = 0;; ++i) {
    bool drafts = false;
    for (std::size_t request = 0; request < survival.size(); ++request) {
      if (i >= survival[request].size()) continue;
      drafts = true;
      ++fixed.verified[request];
      ++verified;
      fixed.tokens += survival[request][i];
    }
    if (!drafts) return best;
    fixed.rate = fixed.tokens / checked_time(time, verified);
    if (fixed.rate > best.rate) best = fixed;
  }
}

}  // namespace foredraft::analytic
