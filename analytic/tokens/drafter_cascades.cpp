// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/drafter_cascades.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// Rounds of a draft: full rounds of k inner drafts, and a last one of up to `rest` tokens if `rest` is not 0.
struct Rounds {
  std::int64_t full;
  std::int64_t rest;
};

Rounds rounds_of(const StagedDrafter& drafter, std::int64_t gamma) {
  const std::int64_t tokens = drafter.inner_gamma + 1;
  return {gamma / tokens, gamma % tokens};
}

/// E[x^0 + ... + x^(J - 1)] for a round that yields J of at most `tokens` tokens: sum_i (x inner_alpha)^i.
double round_sum(const StagedDrafter& drafter, double x, std::int64_t tokens) {
  const double ratio = x * drafter.inner_alpha;
  return stable::geometric_sum(ratio, 1.0 - ratio, tokens);
}

}  // namespace

VaryingYield staged_tokens(const StagedDrafter& drafter, double alpha, std::int64_t gamma, Convention convention) {
  FOREDRAFT_EXPECT(gamma >= 1);
  const auto [full, rest] = rounds_of(drafter, gamma);
  // 1 - E[alpha^J] = (1 - alpha) E[1 + ... + alpha^(J - 1)]: the rounds are a geometric series.
  const double sum = round_sum(drafter, alpha, drafter.inner_gamma + 1);
  const double all_accepted = 1.0 - (1.0 - alpha) * sum;  // E[alpha^J]: every token of a round
  const double reached = std::pow(all_accepted, static_cast<double>(full));
  const double in_rounds =
      sum * stable::geometric_sum(all_accepted, (1.0 - alpha) * sum, full) + reached * round_sum(drafter, alpha, rest);
  return {.tokens = convention == Convention::bonus ? 1.0 + alpha * in_rounds : in_rounds,
          .mean_gamma = static_cast<double>(full) * round_sum(drafter, 1.0, drafter.inner_gamma + 1) +
                        round_sum(drafter, 1.0, rest)};
}

std::vector<double> staged_tokens_beyond(const StagedDrafter& drafter, double alpha, std::int64_t gamma,
                                         Convention convention) {
  FOREDRAFT_EXPECT(gamma >= 1 && gamma <= max_staged_gamma);
  const auto last = static_cast<std::size_t>(gamma);
  std::vector<double> lengths(last + 1, 0.0);  // [n]: P(the draft has n tokens) after the rounds so far
  lengths[0] = 1.0;
  for (std::int64_t left = gamma; left > 0;) {
    const std::int64_t tokens = std::min(left, drafter.inner_gamma + 1);
    left -= tokens;
    std::vector<double> longer(last + 1, 0.0);
    for (std::size_t n = 0; n <= last; ++n) {
      double reached = lengths[n];  // and i inner drafts accepted
      for (std::int64_t i = 1; i <= tokens && reached > 0.0; ++i) {
        const double ends = i < tokens ? 1.0 - drafter.inner_alpha : 1.0;
        longer[n + static_cast<std::size_t>(i)] += reached * ends;
        reached *= drafter.inner_alpha;
      }
    }
    lengths = std::move(longer);
  }
  std::vector<double> beyond(last);
  CompensatedSum at_least;                                             // P(the draft has n tokens or more)
  const std::size_t needed = convention == Convention::bonus ? 0 : 1;  // the last token is emitted without a bonus
  for (std::size_t n = last + 1; n-- > 1;) {
    at_least.add(lengths[n]);
    if (n > needed) beyond[n - 1 - needed] = std::pow(alpha, static_cast<double>(n - needed)) * at_least.value();
  }
  return beyond;
}

std::vector<double> marginal_of_longest(std::span<const double> marginal, std::int64_t drafts) {
  FOREDRAFT_EXPECT(drafts >= 1);
  std::vector<double> longest;
  longest.reserve(marginal.size());
  for (const double accepted : marginal) {
    longest.push_back(-std::expm1(static_cast<double>(drafts) * std::log1p(-accepted)));
  }
  return longest;
}

}  // namespace foredraft::analytic
