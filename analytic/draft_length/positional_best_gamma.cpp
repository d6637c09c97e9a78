// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/best_gamma.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"

namespace foredraft::analytic {

BestGamma best_gamma(std::span<const double> marginal, double c, Convention convention, Drafting drafting) {
  check_marginal(marginal);
  check_nonnegative("c", c);
  const auto last = static_cast<std::int64_t>(marginal.size());
  const bool has_bonus = convention == Convention::bonus;
  const bool per_draft = drafting == Drafting::autoregressive;
  if (drafting == Drafting::free) c = 0.0;
  // The marginal rule: draft on while the next token's probability exceeds its cost at the present rate, m cost > dc
  // tokens. The marginals never rise and the cost of one more draft dc is constant, so the first stop is the maximum. A
  // block drafter has dc = 0 once it drafts at all; whether it should is decided at the end.
  std::int64_t gamma = has_bonus && per_draft ? 0 : 1;
  double tokens = has_bonus && gamma == 1 ? 1.0 + marginal[0] : 1.0;
  double cost = 1.0 + static_cast<double>(gamma) * c;
  const double cost_of_one_more = per_draft ? c : 0.0;
  while (gamma < last) {
    const double gain = marginal[static_cast<std::size_t>(has_bonus ? gamma : gamma - 1)];
    if (!(gain * cost > cost_of_one_more * tokens)) break;
    tokens += gain;
    ++gamma;
    if (per_draft) cost = 1.0 + static_cast<double>(gamma) * c;
  }
  if (has_bonus && tokens <= cost) return {0, 1.0};
  return {gamma, tokens / cost};
}

}  // namespace foredraft::analytic
