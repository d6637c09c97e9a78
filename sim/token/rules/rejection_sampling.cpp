// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Speculative sampling: accept x ~ q with probability min(1, p(x) / q(x)), otherwise draw from the residual
/// max(0, p - q) / sum max(0, p - q) [Leviathan2023, Alg. 1; Chen2023, Alg. 2]. The emitted distribution is p for every
/// q: min(p, q) + (1 - sum min(p, q)) * residual = p.
class RejectionSamplingRule final : public VerificationRule {
 public:
  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    return drafted.target >= drafted.draft ? 1.0 : drafted.target / drafted.draft;
  }

  void replacement(const PositionLaws& laws, std::span<double> law) const override {
    for (std::size_t x = 0; x < law.size(); ++x) law[x] = std::max(0.0, laws.target[x] - laws.draft[x]);
    const double mass = row_sum(law);
    if (mass > 0.0) {
      const double scale = 1.0 / mass;
      for (double& probability : law) probability *= scale;
    } else {
      std::copy(laws.target.begin(), laws.target.end(), law.begin());  // p = q: no draft is ever rejected
    }
  }
};

}  // namespace

MadeRule make(const RejectionSampling& /*rule*/) { return std::make_unique<RejectionSamplingRule>(); }

}  // namespace foredraft::sim::rules
