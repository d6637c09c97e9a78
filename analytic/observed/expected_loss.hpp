// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// Choice of the draft length by expected loss. Derivation D29 in docs/model.md.
namespace foredraft::analytic {

/// A candidate draft length.
struct Candidate {
  std::int64_t gamma;            ///< >= 0; 0: no speculation
  std::vector<double> speedups;  ///< [draw]: all candidates share the draws; > 0; all 1 for gamma 0
};

struct CandidateLoss {
  std::int64_t gamma;
  double median;         ///< of the speedup
  Interval ci95;         ///< quantiles 0.025 and 0.975 of the speedup
  double p_best;         ///< probability of having the largest speedup; split evenly among ties
  double expected_loss;  ///< mean of 1 - speedup / largest speedup of the draw, in [0, 1)
};

/// The losses of the candidates, in the same order. Throws DomainError for no candidates, no draws, different numbers
/// of draws and speedups that are not positive and finite.
[[nodiscard]] std::vector<CandidateLoss> expected_losses(std::span<const Candidate> candidates);

/// Losses that differ by at most this count as equal.
inline constexpr double equal_loss = 0.005;

struct LeastLoss {
  std::size_t chosen;             ///< the smallest gamma of `ties`; among equal gammas the smallest loss
  std::vector<std::size_t> ties;  ///< indices of the candidates within equal_loss of the minimum loss, ascending
};

/// Chooses among at least one candidate.
[[nodiscard]] LeastLoss least_loss(std::span<const CandidateLoss> losses);

}  // namespace foredraft::analytic
