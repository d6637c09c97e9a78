// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// Choice of the draft length by expected loss. Derivation D29 in docs/model.md.
namespace foredraft::analytic {

/// A draft length that could be set.
struct Candidate {
  std::int64_t gamma;            ///< >= 0; 0: no speculation
  std::vector<double> speedups;  ///< [draw]: from draws that all candidates share, > 0; 1 everywhere for gamma 0
};

struct CandidateLoss {
  std::int64_t gamma;
  double median;         ///< of the speedup
  Interval ci95;         ///< quantiles 0.025 and 0.975 of the speedup
  double p_best;         ///< probability of the largest speedup; equal ones share it
  double expected_loss;  ///< mean of 1 - speedup / largest speedup, in [0, 1)
};

/// The losses of candidates, in their order. Throws DomainError for no candidates, no draws, different numbers of draws
/// and speedups that are not positive and finite.
[[nodiscard]] std::vector<CandidateLoss> expected_losses(std::span<const Candidate> candidates);

/// Losses that differ by at most this are equal.
inline constexpr double equal_loss = 0.005;

struct LeastLoss {
  std::size_t chosen;             ///< of `ties` the smallest gamma, of equal ones the least loss
  std::vector<std::size_t> ties;  ///< indices of the candidates within equal_loss of the least loss, ascending
};

/// The choice among at least one candidate.
[[nodiscard]] LeastLoss least_loss(std::span<const CandidateLoss> losses);

}  // namespace foredraft::analytic
