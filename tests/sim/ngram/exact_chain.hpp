// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "foredraft/words.hpp"
#include "sim/ngram/model.hpp"
#include "sim/ngram/speculation.hpp"

namespace foredraft::tests {

/// Exact results of speculative decoding with a target and a drafter of order 1 or 2: the state is the last token, so
/// every long-run mean is a sum over the stationary distribution of a finite chain.
class ExactChain {
 public:
  ExactChain(const ngram::Model& target, const ngram::Model& draft);

  /// Temperature 1.
  [[nodiscard]] double alpha() const;  ///< token average of sum min(p, q)
  /// The same for a draft that depends on the token before it, y, and on the token `places` before that, c: q(c, y).
  [[nodiscard]] double alpha_after(
      int places, const std::function<std::vector<double>(ngram::Token c, ngram::Token y)>& draft_distribution) const;
  [[nodiscard]] double accept_after_acceptance() const;
  [[nodiscard]] double accept_after_rejection() const;

  /// Temperature 0, for texts of at least `passage` tokens from stationary prompts; the last iteration is not cut.
  [[nodiscard]] double greedy_alpha(std::int64_t passage) const;  ///< over the first `passage` tokens
  [[nodiscard]] double greedy_tokens_per_iteration(std::int64_t gamma, std::int64_t passage) const;

 private:
  using Row = std::vector<double>;
  using Matrix = std::vector<Row>;

  const ngram::Model* target_;
  const ngram::Model* draft_;
  std::size_t size_;
  Matrix target_rows_;
  Matrix accepted_;   ///< [c][x]: min(p, q), the draft x is accepted
  Matrix corrected_;  ///< [c][x]: p - min(p, q), the draft is rejected and x emitted
  Row beta_;
  Row stationary_;
};

/// Long-run means over the iterations of a target of order 2 at temperature 1.
struct ExactIterations {
  double tokens;                    ///< per iteration
  std::vector<double> conditional;  ///< [i]: draft i accepted given that all before it were
};

/// By enumeration of what each draft depends on: the last emitted token and the draft before. `drafter` has models of
/// order 1 or 2, or stages that depend on at most one emitted token.
[[nodiscard]] ExactIterations exact_iterations(const ngram::Model& target, const ngram::Drafter& drafter,
                                               std::int64_t gamma, Convention convention);

}  // namespace foredraft::tests
