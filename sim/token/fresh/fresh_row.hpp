// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// One distribution that is used a few times and thrown away: weights in single precision whose sum is known in double.
///
/// The law of the row is weight / sum exactly, so a draw and an acceptance follow one and the same law, whatever the
/// rounding that made the weights.
class FreshRow {
 public:
  explicit FreshRow(std::size_t vocabulary);

  /// Logits to be filled in before from_logits(): padded_row(vocabulary) entries, -infinity behind the vocabulary.
  [[nodiscard]] std::span<float> logits() { return logits_; }
  [[nodiscard]] std::span<const float> logits() const { return logits_; }

  /// softmax(logits / temperature); temperature 0: the largest logit, lowest index on ties.
  void from_logits(double temperature);

  /// The law (1 - share) * first + share * second, then the temperature.
  void from_mixture(const FreshRow& first, const FreshRow& second, double share, double temperature);

  [[nodiscard]] Token draw(RandomStream& random) const;
  [[nodiscard]] double probability(Token token) const {
    return static_cast<double>(weights_[static_cast<std::size_t>(token)]) / total_;
  }

  /// Writes the whole law.
  void law(std::span<double> law) const;

 private:
  void add_up();

  std::size_t vocabulary_;
  std::vector<float> logits_;
  std::vector<float> weights_;
  std::vector<double> block_sums_;
  double total_ = 0.0;
};

}  // namespace foredraft::sim
