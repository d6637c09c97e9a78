// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::sim {

/// Draws the target's distributions of a SyntheticModels, one context at a time, as logits in single precision: those
/// numbers are the definition of the context, whoever turns them into probabilities.
class SyntheticTarget {
 public:
  /// Throws DomainError unless `parameter` lies in the law's domain: zipf [0, 100], gaussian_logits [0, 1e6],
  /// dirichlet [1e-6, 1e6].
  SyntheticTarget(TargetLaw law, double parameter, std::int64_t vocabulary);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  /// vocabulary() rounded up for the vector kernels.
  [[nodiscard]] std::size_t row_size() const;

  /// Logits of context `index` of the stream `id`, up to a constant; a row of row_size() entries, -infinity behind the
  /// vocabulary. A pure function of its arguments. `words` is scratch.
  void logits(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
              std::vector<std::uint64_t>& words) const;

 private:
  void shuffled_zipf(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
                     std::vector<std::uint64_t>& words) const;
  void log_dirichlet(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row) const;

  TargetLaw law_;
  double parameter_;
  std::size_t vocabulary_;
  std::vector<float> zeros_;        ///< gaussian_logits: the base that the noise is added to
  std::vector<float> rank_logits_;  ///< zipf: -parameter * log(rank)
};

}  // namespace foredraft::sim
