#pragma once

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
  static constexpr std::int64_t bytes_per_entry = 24;

  /// O(V log V).
  explicit ResidualMass(const PositionLaws& laws);

  /// O(log V); a sum of nonnegative terms, so it keeps its digits where it is small.
  [[nodiscard]] double operator()(double c) const;

 private:
  /// At c = ratio, the bend where a token begins to count.
  struct Bend {
    double ratio;  ///< p / q of the token
    double mass;   ///< m(ratio)
    double slope;  ///< sum of q over the tokens with p / q >= ratio: -m' just below
  };
  std::vector<Bend> bends_;     ///< by falling ratio
  double never_drafted_ = 0.0;  ///< sum of p where q = 0: m at infinity
};

}  // namespace foredraft::sim
