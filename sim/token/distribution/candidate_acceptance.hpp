// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/token/rules/verification_rule.hpp"

/// Several candidates for one position, tried in order [Miao2024, Alg. 2; Chen2024]. With r_1 = p and d_1 = q,
/// candidate i is drawn from d_i and accepted with probability min(1, r_i / d_i); after its rejection r_{i+1} = max(0,
/// r_i - d_i), normalized. After the last rejection a token of the last r is emitted. The emitted distribution is p for
/// every q, every number of candidates and both ways of drawing them; with one candidate this is rejection sampling.
namespace foredraft::sim {

/// The distributions r_i and d_i, one rejection after the other. Work and memory: O(V) for each rejection.
class RecursiveRejection {
 public:
  RecursiveRejection(const PositionLaws& laws, CandidateDraws draws);

  /// r_i: distribution of the token still to be emitted. Sums to 1; 0 at every token rejected so far.
  [[nodiscard]] std::span<const double> residual() const { return residual_; }

  /// d_i: distribution of the next candidate. Sums to 1.
  [[nodiscard]] std::span<const double> draft() const { return draft_; }

  /// min(1, r_i / d_i) at a token drawn from d_i; 0 at a token that d_i cannot draw.
  [[nodiscard]] double acceptance(Token candidate) const;

  /// Continues after the rejection of a token drawn from d_i. If r_i = d_i no rejection can happen, and r stays.
  void reject(Token candidate);

 private:
  CandidateDraws draws_;
  std::vector<double> residual_;
  std::vector<double> draft_;
  std::vector<Token> rejected_;
};

/// The first candidate i with uniforms[i] < acceptance, uniforms on [0, 1), or nullopt. In the latter case `residual`
/// (of the length of the rows) receives the distribution of the token to emit instead. As many uniforms as candidates.
[[nodiscard]] std::optional<std::size_t> first_accepted(const PositionLaws& laws, CandidateDraws draws,
                                                        std::span<const Token> candidates,
                                                        std::span<const double> uniforms, std::span<double> residual);

/// The token that a position emits after the rejection of its first candidate.
struct FurtherOutcome {
  bool accepted;  ///< a further candidate was accepted; otherwise the token comes from the last residual
  Token token;
};

/// Draws and tests the candidates after those rejected so far (at least one), by recursive rejection. O(V) for each.
[[nodiscard]] FurtherOutcome try_further_candidates(const PositionLaws& laws, const CandidateScheme& scheme,
                                                    std::span<const Token> rejected, RandomStream& random);

/// Probability that one of a position's candidates is accepted by recursive rejection. With replacement in closed form:
/// 1 - m(c_{k+1}), c_1 = 0, c_{i+1} = c_i + m(c_i), m of ResidualMass; that is 1 - prod (1 - beta_i). Without
/// replacement a sum over the rejected tokens: O(V log V) for two candidates, V^(k-1) terms for k, and NaN above 2^20
/// terms.
[[nodiscard]] double candidate_acceptance(const PositionLaws& laws, const CandidateScheme& scheme);

}  // namespace foredraft::sim
