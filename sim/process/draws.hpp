// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/random_stream.hpp"
#include "foredraft/scenario.hpp"
#include "sim/process/kernels.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// The purposes of the random numbers of a path: for leading bits, and for the trailing bits that settle ties.
struct DrawPurposes {
  Purpose leading;
  Purpose tie;
};
inline constexpr DrawPurposes survival_draws{Purpose::survival, Purpose::survival_tie};
inline constexpr DrawPurposes bernoulli_draws{Purpose::bernoulli, Purpose::bernoulli_tie};
inline constexpr DrawPurposes chain_start_draws{Purpose::chain_start, Purpose::chain_start_tie};

/// The uniforms of one block in the layout of kernels.hpp. They may be read in any order; increasing order is fast.
class Draws {
 public:
  /// `positions` draws per iteration.
  Draws(const RunKey& key, const DrawPurposes& purposes, std::uint64_t block, std::uint64_t positions);

  /// The leading 16 bits.
  [[nodiscard]] std::uint32_t leading(std::uint64_t iteration, std::uint64_t position) {
    const std::uint64_t index = iteration / lanes_per_draw * positions_ + position;
    if (index - first_ >= window) fill(index, position);
    const std::uint64_t lane = iteration % lanes_per_draw;
    return (words_[4 * (index - first_) + lane / 2] >> (16 * (lane % 2)) & 0xffffU) ^ 0x8000U;
  }

  /// The trailing 64 bits.
  [[nodiscard]] std::uint64_t trailing(std::uint64_t iteration, std::uint64_t position) const;

  /// True if the 80-bit uniform lies below the threshold.
  [[nodiscard]] bool below(const Threshold& threshold, std::uint64_t iteration, std::uint64_t position) {
    const std::uint32_t bits = leading(iteration, position);
    return bits < threshold.high || (bits == threshold.high && trailing(iteration, position) < threshold.low);
  }

 private:
  static constexpr std::uint64_t window = 64;

  void fill(std::uint64_t index, std::uint64_t position);

  std::array<std::uint32_t, 2> key_;
  PhiloxWords counter_;
  StreamId tie_id_;
  std::uint64_t positions_;
  std::uint64_t first_ = ~std::uint64_t{0} - window;  // nothing drawn yet: no index lies in the window
  std::array<std::uint32_t, 4 * window> words_{};
};

/// A Beta(a, b) variate and its complement to 1, each to full relative accuracy.
struct BetaVariate {
  double value;
  double complement;
};

/// Draws Beta(a, b) variates by rejection from a log-logistic distribution of X / (1 - X) [Cheng1978, Alg. BA].
class BetaDistribution {
 public:
  /// a, b > 0 and finite.
  BetaDistribution(double a, double b);

  /// The variate of `place`. Every place has its own part of the stream.
  [[nodiscard]] BetaVariate draw(RandomStream& random, std::uint64_t place) const;

 private:
  /// a / (a + b) or b / (a + b).
  struct Share {
    double value;
    double log;
  };
  Share share_a_;
  Share share_b_;
  double sum_;       ///< a + b
  double log_odds_;  ///< log(a / b)
  double spread_;    ///< of the log-odds of the proposals
  double exponent_;  ///< exponent of a proposal's odds relative to a / b in the ratio of the two densities
};

/// Tokens of the next sequence; geometric lengths by inversion.
[[nodiscard]] std::int64_t draw_length(const SequenceLength& distribution, RandomStream& random);

}  // namespace foredraft::sim
