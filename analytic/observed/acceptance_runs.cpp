// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_runs.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// logit(p) shifted by `shift`, in a form that keeps 0 and 1.
double shifted_odds(double p, double shift) { return p == 1.0 ? p : p / (p + (1.0 - p) * std::exp(-shift)); }

/// One kind of run: how it continues inside a draft, across the bonus token, and over a whole fully accepted iteration.
struct Kind {
  double persistence;
  double over_bonus;
  double whole;      ///< persistence^(gamma - 1) over_bonus^2: from an iteration's first draft to the next one's
  double not_whole;  ///< 1 - whole
};

Kind kind_of(double persistence, double rho, std::int64_t gamma) {
  const double over_bonus = shifted_odds(persistence, std::log(rho));
  const double log_whole = static_cast<double>(gamma - 1) * std::log(persistence) + 2.0 * std::log(over_bonus);
  // 0 log 0 = 0: a run of one draft does not ask for persistence inside it.
  const double exponent = gamma == 1 ? 2.0 * std::log(over_bonus) : log_whole;
  return {persistence, over_bonus, std::exp(exponent), -std::expm1(exponent)};
}

void check(const RunAcceptance& acceptance) {
  check_probability("a", acceptance.chain.a);
  check_probability("b", acceptance.chain.b);
  check_nonnegative("spread", acceptance.spread);
  check_positive("rho", acceptance.rho);
}

}  // namespace

std::vector<double> accepted_shares(const RunAcceptance& acceptance, std::int64_t gamma) {
  check(acceptance);
  check_range("gamma", gamma, 0, max_observed_gamma);
  if (gamma == 0) return {};
  const auto& [a, b] = acceptance.chain;
  const double easy = shifted_odds(a, acceptance.spread);
  const double hard = shifted_odds(a, -acceptance.spread);
  std::array kinds{kind_of(easy, acceptance.rho, gamma), kind_of(hard, acceptance.rho, gamma)};
  // A run that never ends leaves iterations of its own kind only: everything is scaled by 1 - whole of both kinds.
  // Kinds that are equal scale once, so that a = 1 needs no limit.
  const bool equal = easy == hard;
  const std::array scale{equal ? 0.5 : 0.5 * kinds[1].not_whole, equal ? 0.5 : 0.5 * kinds[0].not_whole};
  double starts = equal ? kinds[0].not_whole : kinds[0].not_whole * kinds[1].not_whole;
  std::vector<double> shares(static_cast<std::size_t>(gamma));
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    double reached = b * scale.at(kind);
    for (double& share : shares) {
      share += reached;
      starts += &share == &shares.back() ? reached * kinds.at(kind).over_bonus : 0.0;
      reached *= kinds.at(kind).persistence;
    }
  }
  for (double& share : shares) share /= starts;
  return shares;
}

double tokens_per_iteration(const RunAcceptance& acceptance, std::int64_t gamma) {
  const std::vector<double> shares = accepted_shares(acceptance, gamma);
  return std::accumulate(shares.begin(), shares.end(), 1.0);
}

TokenBounds tokens_left_open(double tokens, std::int64_t observed_gamma, std::int64_t gamma) {
  check_range("observed_gamma", observed_gamma, 1, max_observed_gamma);
  check_range("gamma", gamma, 0, max_observed_gamma);
  const auto n = static_cast<double>(observed_gamma + 1);
  if (!(tokens >= 1.0 && tokens <= n)) {
    throw DomainError(fmt::format("invalid tokens={} (must lie between 1 and gamma + 1 = {})", tokens, n));
  }
  const double least_alpha = 1.0 - 1.0 / tokens;
  const double most_alpha = std::min(1.0, least_alpha * n / (n - 1.0));
  TokenBounds open{any_process_bounds(least_alpha, gamma, Convention::bonus).low,
                   any_process_bounds(most_alpha, gamma, Convention::bonus).high};
  const std::int64_t most_parts =
      (std::max(gamma, observed_gamma) + 1 + std::min(gamma, observed_gamma)) / (std::min(gamma, observed_gamma) + 1);
  const auto parts = static_cast<double>(most_parts);
  if (gamma >= observed_gamma) {
    open = {std::max(open.low, tokens), std::min(open.high, parts * tokens)};
  } else {
    open = {std::max(open.low, tokens / parts), std::min(open.high, tokens)};
  }
  return open;
}

}  // namespace foredraft::analytic
