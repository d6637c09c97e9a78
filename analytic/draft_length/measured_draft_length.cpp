// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/measured_draft_length.hpp"

#include <algorithm>

#include "analytic/tokens/acceptance_definitions.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

std::size_t first_near_best(std::span<const double> speedups, double fraction) {
  check_probability("fraction", fraction);
  check_at_least("speedups", static_cast<std::int64_t>(speedups.size()), 1);
  double most = 0.0;
  for (const double speedup : speedups) {
    check_positive("speedup", speedup);
    most = std::max(most, speedup);
  }
  const auto near = [&](double speedup) { return speedup >= (1.0 - fraction) * most; };
  return static_cast<std::size_t>(std::find_if(speedups.begin(), speedups.end(), near) - speedups.begin());
}

std::optional<double> break_even_alpha(const MeasuredIteration& iteration, std::int64_t gamma, Convention convention) {
  check_at_least("gamma", gamma, 1);
  const double tokens = break_even_tokens(iteration);
  const std::int64_t most = max_tokens(gamma, convention);
  if (tokens <= 1.0) return 0.0;
  if (tokens > static_cast<double>(most)) return std::nullopt;
  return alpha_from_acceptance_length(tokens, gamma, convention);
}

std::optional<double> break_even_c(const MeasuredIteration& iteration, double tokens_per_iteration,
                                   std::int64_t passes) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_at_least("passes", passes, 1);
  const double rest = break_even_tokens(iteration) - iteration.drafting.time / plain_time(iteration);
  if (tokens_per_iteration <= rest) return std::nullopt;
  return (tokens_per_iteration - rest) / static_cast<double>(passes);
}

}  // namespace foredraft::analytic
