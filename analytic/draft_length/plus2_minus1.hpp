// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "analytic/tokens/varying_gamma.hpp"
#include "foredraft/words.hpp"

/// The +2/-1 heuristic [Wagner2024, Sec. 4.1; Wolf2020]: two drafts more behind an iteration that accepted all of its
/// drafts, one less (at least one remains) behind any other. The length is a Markov chain that moves up from g with
/// m_g = P(all g drafts accepted); where it starts does not matter in the long run. Derivation in docs/model.md.
namespace foredraft::analytic {

/// Long-run law of the draft length, capped at marginal.size(): P(gamma = g) at [g - 1]. `marginal` [g - 1] is m_g; it
/// never rises, and has at least one entry. Exact to round-off, entries below 1e-250 of the largest may be 0.
[[nodiscard]] std::vector<double> plus2_minus1_law(std::span<const double> marginal);

/// Largest alpha that the law without a cap is computed for: beyond, it spreads over more than a million lengths.
inline constexpr double plus2_minus1_largest_alpha = 1.0 - 1e-6;

/// The same under i.i.d. acceptance and without a cap, cut where what is left out is below 1e-20. alpha = 0: always one
/// draft. DomainError above plus2_minus1_largest_alpha; at alpha = 1 the length grows for ever and has no law.
[[nodiscard]] std::vector<double> plus2_minus1_law(double alpha);

/// Tokens and drafts of an iteration in the long run, in the two settings above.
[[nodiscard]] VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention);
[[nodiscard]] VaryingYield plus2_minus1(double alpha, Convention convention);

/// The length of no drift under i.i.d. acceptance, alpha^gamma = 1/3: ln 3 / -ln alpha. 0 for alpha = 0, +infinity for
/// alpha = 1. It does not know c, so it is near the optimum for one c per alpha only.
[[nodiscard]] double plus2_minus1_equilibrium(double alpha);

}  // namespace foredraft::analytic
