#pragma once

#include <cstdint>
#include <vector>

#include "core/words.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::tests {

/// What speculative decoding does with a target and a drafter of order 1 or 2, without simulation: the state is the
/// last token, so every long-run mean is a sum over the stationary law of a finite chain.
class ExactChain {
 public:
  ExactChain(const ngram::Model& target, const ngram::Model& draft);

  /// Temperature 1.
  [[nodiscard]] double alpha() const;  ///< token average of sum min(p, q)
  [[nodiscard]] double accept_after_acceptance() const;
  [[nodiscard]] double accept_after_rejection() const;
  [[nodiscard]] double tokens_per_iteration(std::int64_t gamma, Convention convention) const;

  /// Temperature 0, for texts of at least `passage` tokens from stationary prompts; the last iteration is not cut.
  [[nodiscard]] double greedy_alpha(std::int64_t passage) const;  ///< over the first `passage` tokens
  [[nodiscard]] double greedy_tokens_per_iteration(std::int64_t gamma, std::int64_t passage) const;

 private:
  using Row = std::vector<double>;
  using Matrix = std::vector<Row>;

  [[nodiscard]] static Row times(const Row& row, const Matrix& matrix);
  [[nodiscard]] static Row stationary(const Matrix& matrix);

  const ngram::Model* target_;
  const ngram::Model* draft_;
  std::size_t size_;
  Matrix target_rows_;
  Matrix accepted_;   ///< [c][x]: min(p, q), the draft x is accepted
  Matrix corrected_;  ///< [c][x]: p - min(p, q), the draft is rejected and x emitted
  Row beta_;
  Row stationary_;
};

}  // namespace foredraft::tests
