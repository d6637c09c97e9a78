// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::sim {

/// A distribution that is used only a few times. It is exactly weight / sum, with weights in single precision and the
/// sum in double, so draws and acceptance use the same distribution despite the rounding of the weights.
class FreshRow {
 public:
  explicit FreshRow(std::size_t vocabulary);

  /// Logits, to be filled before from_logits(): padded_row(vocabulary) entries, -infinity after the vocabulary.
  [[nodiscard]] std::span<float> logits() { return logits_; }
  [[nodiscard]] std::span<const float> logits() const { return logits_; }

  /// softmax(logits / temperature), then the truncation; temperature 0: the largest logit, lowest index on ties.
  void from_logits(const Sampling& sampling);

  /// The distribution (1 - share) * first + share * second, then temperature and truncation.
  void from_mixture(const FreshRow& first, const FreshRow& second, double share, const Sampling& sampling);

  [[nodiscard]] Token draw(RandomStream& random) const;
  [[nodiscard]] double probability(Token token) const {
    return static_cast<double>(weights_[static_cast<std::size_t>(token)]) / total_;
  }

  /// Writes the whole distribution.
  void distribution(std::span<double> distribution) const;

 private:
  void truncate(const Truncation& truncation);

  std::size_t vocabulary_;
  std::vector<float> logits_;
  std::vector<float> weights_;
  std::vector<double> block_sums_;
  double total_ = 0.0;
};

/// How the drafts of fresh contexts are derived.
struct FreshDraft {
  DraftDistribution distribution;
  double strength;  ///< as solved by SyntheticPool
};

/// Iterations with contexts that are drawn for one position and used once. Positions after a rejection are not drawn,
/// except under block verification.
/// With DraftDistribution::mixing, the other context is also fresh, at temperature 1.
[[nodiscard]] std::unique_ptr<Simulator> make_fresh_simulator(SyntheticTarget target, const FreshDraft& draft,
                                                              std::unique_ptr<const VerificationRule> rule,
                                                              const TokenSampling& sampling,
                                                              const IterationShape& shape, std::uint64_t iterations);

}  // namespace foredraft::sim
