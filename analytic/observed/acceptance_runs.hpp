// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "foredraft/scenario.hpp"

/// Acceptance that comes in runs: the model that is fitted to the counts of a log. Derivation D23 in docs/model.md.
namespace foredraft::analytic {

/// Would the draft at a text position be accepted? As `MarkovAcceptance`, with two additions.
///
/// Half of the runs of accepted positions are easy, half are hard: a run continues with probability a+ or a-, the
/// logits of which are logit(a) + spread and logit(a) - spread. Across the bonus token the odds of continuing are rho
/// times those: the next draft starts from fresh features of the target. spread 0 and rho 1 are the Markov chain.
struct RunAcceptance {
  MarkovAcceptance chain;  ///< a: persistence in the middle of both kinds; b: P(accept | previous position rejected)
  double spread = 0.0;     ///< >= 0, finite
  double rho = 1.0;        ///< odds ratio, > 0, finite
};

/// The largest gamma that a run model is asked for.
inline constexpr std::int64_t max_observed_gamma = max_runs_gamma;

/// [i]: long-run share of the iterations whose first i + 1 of `gamma` drafts are all accepted, gamma in 0 to
/// max_observed_gamma, with a bonus token. NaN for a = 1, b = 0 (two closed states).
[[nodiscard]] std::vector<double> accepted_shares(const RunAcceptance& acceptance, std::int64_t gamma);

/// 1 + the sum of accepted_shares. Equals tokens_per_iteration(MarkovAcceptance) for spread 0 and rho 1.
[[nodiscard]] double tokens_per_iteration(const RunAcceptance& acceptance, std::int64_t gamma);

/// The tokens per iteration at another gamma that any stationary acceptance process leaves open, given `tokens` per
/// iteration at `observed_gamma` >= 1: the bounds of any process for every mean acceptance that fits, and
/// monotonicity: a longer draft never yields less, and n' positions never more than ceil(n'/n) iterations of n do.
/// `tokens` in [1, observed_gamma + 1].
[[nodiscard]] TokenBounds tokens_left_open(double tokens, std::int64_t observed_gamma, std::int64_t gamma);

}  // namespace foredraft::analytic
