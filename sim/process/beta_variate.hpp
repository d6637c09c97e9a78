// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/random_stream.hpp"

namespace foredraft::sim {

/// A Beta(a, b) variate and what it lacks to 1, each to full relative accuracy.
struct BetaVariate {
  double value;
  double complement;
};

/// Draws Beta(a, b) variates by rejection out of a log-logistic law, by which X / (1 - X) is drawn [Cheng1978, Alg.
/// BA].
class BetaLaw {
 public:
  /// a, b > 0 and finite.
  BetaLaw(double a, double b);

  /// The variate of `place`: every place has its own stretch of the stream.
  [[nodiscard]] BetaVariate draw(RandomStream& random, std::uint64_t place) const;

 private:
  /// a or b over a + b.
  struct Share {
    double value;
    double log;
  };
  Share share_a_;
  Share share_b_;
  double sum_;       ///< a + b
  double log_odds_;  ///< log(a / b)
  double spread_;    ///< of the log-odds of the proposals
  double exponent_;  ///< of a proposal's odds over a / b in the ratio of the two densities
};

}  // namespace foredraft::sim
