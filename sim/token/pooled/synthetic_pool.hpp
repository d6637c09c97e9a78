// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

/// Sampling of both models.
struct TokenSampling {
  Sampling target = {};
  Sampling draft = {};
};
[[nodiscard]] TokenSampling sampling_of(const TokenFidelity& token);

/// The contexts of SyntheticModels, and the solved strength of the difference between draft and target.
class SyntheticPool {
 public:
  /// Draws pair.pool contexts of a checked pair and solves for the strength. Throws DomainError for a pool above 2 GiB
  /// and for an alpha that no strength reaches, Interrupted when stopped.
  SyntheticPool(const SyntheticModels& pair, std::uint64_t seed, StopToken stop = {});

  [[nodiscard]] std::size_t contexts() const { return contexts_; }
  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  /// The solved strength: standard deviation of the noise, excess temperature, or weight in the mixture.
  [[nodiscard]] double strength() const { return strength_; }

  /// Writes the target's distribution of a context at a temperature.
  void target_distribution(std::size_t context, double temperature, std::span<double> distribution) const;

  /// Writes the draft's distribution of a context at a strength and a temperature.
  void draft_distribution(std::size_t context, double strength, double temperature,
                          std::span<double> distribution) const;

  /// Writes both models' distributions of a context with their sampling, at the solved strength.
  void distributions(std::size_t context, const TokenSampling& sampling, std::span<double> target,
                     std::span<double> draft) const;

  /// Mean over the contexts of sum min(p, q) at temperature 1, as a function of the strength.
  [[nodiscard]] double mean_overlap(double strength, StopToken stop = {}) const;

 private:
  void solve(double alpha, StopToken stop);
  [[nodiscard]] std::span<const float> target_logits(std::size_t context) const;
  [[nodiscard]] std::span<const double> plain_distribution(std::size_t context) const;
  void noisy_logits(std::size_t context, double strength, std::span<double> logits) const;

  DraftDistribution draft_;
  std::size_t vocabulary_;
  std::size_t contexts_;
  std::size_t row_size_;
  double strength_ = 0.0;
  std::vector<float> logits_;          ///< contexts x row_size
  std::vector<double> distributions_;  ///< contexts x vocabulary: the target's distributions at temperature 1
  std::vector<float> noise_;  ///< contexts x row_size standard normals; empty except for DraftDistribution::noise
};

/// The contexts' explicit distributions.
[[nodiscard]] GivenDistributions written_out(const SyntheticPool& pool, const TokenSampling& sampling = {});

/// The point of the random counter at which pools are drawn: the last one, which no sweep uses.
inline constexpr std::uint64_t pool_point = 0xFFFF'FFFF;

}  // namespace foredraft::sim
