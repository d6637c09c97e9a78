// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// A rule of greedy decoding: behind a rejection and behind accepted drafts the target's most probable token is
/// emitted, the lowest index on ties.
class TopTokenRule : public VerificationRule {
 public:
  void replacement(const PositionLaws& laws, std::span<double> law) const final {
    write_point_mass(row_argmax(laws.target), law);
  }

  void bonus(std::span<const double> target, std::span<double> law) const final {
    write_point_mass(row_argmax(target), law);
  }
};

}  // namespace foredraft::sim
