// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "foredraft/words.hpp"

/// Closed forms of many points at once, a vector at a time. Every instruction set gives the same bits.
namespace foredraft::analytic {

/// Points of i.i.d. acceptance, each with a constant draft length, an autoregressive drafter and a cost ratio. Each
/// span has one value a point, or one value for all points.
struct IidPoints {
  std::span<const double> alpha;  ///< acceptance probability, in [0, 1]
  std::span<const double> gamma;  ///< drafted tokens, whole numbers in [min_gamma(convention), largest_gamma]
  std::span<const double> c;      ///< draft/target time of one step, >= 0 and finite
  Convention convention;
};

/// tokens_per_iteration() of each point; c is not read. Up to 16 tokens an iteration the bits are those of the function
/// for one point; up to 2^27 tokens at most 4 units in the last place from it; beyond, that function is called.
void tokens_per_iteration(const IidPoints& points, std::span<double> tokens);

/// The speedup of each point: its tokens_per_iteration() over 1 + gamma c. [Leviathan2023, Thm. 3.8]
void speedups(const IidPoints& points, std::span<double> speedups);

/// The gamma that best_gamma() of one point chooses, ties included; infinity for an unbounded one. `gamma` is not read.
void best_gammas(const IidPoints& points, std::span<double> gammas);

/// What one look at many values says.
struct Judged {
  bool inside;                ///< all lie in the range, which NaN does not, and are whole numbers if they must be
  std::uint64_t fingerprint;  ///< other values, or another order, most likely have another one
};

/// Looks at values for [minimum, maximum]; `whole`: whole numbers of at most 2^50.
[[nodiscard]] Judged judged(std::span<const double> values, double minimum, double maximum, bool whole);

}  // namespace foredraft::analytic
