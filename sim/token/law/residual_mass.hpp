// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// m(c) = sum_x max(0, p(x) - c q(x)), c >= 0: the mass of the residuals of recursive rejection, which all have the
/// form max(0, p - c q) / m(c). Behind candidates drawn without replacement too, until q is used up: a rejected token
/// has p <= c q, and leaving it out of q scales the rest (docs/model.md).
class ResidualMass {
 public:
  /// Memory for each token.
  static constexpr std::int64_t bytes_per_entry = 25;

  /// O(V log V).
  explicit ResidualMass(const PositionLaws& laws);

  /// A handful of steps for c >= 1, O(log V) below; a sum of nonnegative terms, so it keeps its digits where it is
  /// small.
  [[nodiscard]] double operator()(double c) const;

  /// Asks for what m(c) will read.
  void prefetch(double c) const {
    const std::size_t s = slice(c);
    __builtin_prefetch(bends_.data() + first_[s]);  // a few bends, which may lie in two lines
    __builtin_prefetch(bends_.data() + first_[s + 1]);
  }

 private:
  /// At c = ratio, the bend where a token begins to count.
  struct Bend {
    double ratio;  ///< p / q of the token
    double mass;   ///< m(ratio)
    double slope;  ///< sum of q over the tokens with p / q >= ratio: -m' just below
  };
  /// Where c lies: 1 / c <= 1 in equal slices, and one more for all c < 1. Never falls as c falls.
  [[nodiscard]] std::size_t slice(double c) const {
    const std::size_t last = first_.size() - 2;
    return c < 1.0 ? last : static_cast<std::size_t>(static_cast<double>(last - 1) / c);
  }

  std::vector<Bend> bends_;           ///< by falling ratio
  std::vector<std::uint32_t> first_;  ///< [s]: bends in the slices before s; the last entry: all bends
  double never_drafted_ = 0.0;        ///< sum of p where q = 0: m at infinity
};

}  // namespace foredraft::sim
