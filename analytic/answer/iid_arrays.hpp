// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "foredraft/words.hpp"

/// Vectorized closed forms of many points. Every instruction set gives the same bits.
namespace foredraft::analytic {

/// Points with i.i.d. acceptance, a constant draft length, an autoregressive drafter and a cost ratio. Each span has
/// one value per point, or one value for all points.
struct IidPoints {
  std::span<const double> alpha;  ///< acceptance probability, in [0, 1]
  std::span<const double> gamma;  ///< drafted tokens, whole numbers in [min_gamma(convention), largest_gamma]
  std::span<const double> c;      ///< draft/target time of one step, >= 0 and finite
  Convention convention;
};

/// tokens_per_iteration() of each point; c is not used. Up to 16 tokens per iteration, bits are equal to the function
/// for one point; up to 2^27 tokens, results differ by at most 4 units in the last place; beyond, that function is
/// called.
void tokens_per_iteration(const IidPoints& points, std::span<double> tokens);

/// The speedup of each point: its tokens_per_iteration() over 1 + gamma c. [Leviathan2023, Thm. 3.8]
void speedups(const IidPoints& points, std::span<double> speedups);

/// The same gamma as best_gamma() for each point, ties included; infinity if unbounded. `gamma` is not used.
void best_gammas(const IidPoints& points, std::span<double> gammas);

/// Result of checking many values in one pass.
struct Judged {
  bool inside;                ///< all lie in the range (NaN does not) and are whole numbers if required
  std::uint64_t fingerprint;  ///< hash of the values and their order
};

/// Checks that values lie in [minimum, maximum]; `whole`: and are whole numbers of at most 2^50.
[[nodiscard]] Judged judged(std::span<const double> values, double minimum, double maximum, bool whole);

}  // namespace foredraft::analytic
