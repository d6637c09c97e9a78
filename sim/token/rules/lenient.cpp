// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Rejection sampling against a fraction l of q: accept x ~ q with probability min(1, p(x) / (l q(x))) [Leviathan2023,
/// App. A.5]. The source does not state what a rejection draws from: here the residual of p and l q or, on request, the
/// residual of p and q. Either way no token is emitted with a probability above p(x) / l, and l = 1 is
/// rejection_sampling.
class LenientRule final : public VerificationRule {
 public:
  LenientRule(double lenience, double residual_lenience) : lenience_(lenience), residual_lenience_(residual_lenience) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    if (!(drafted.target > 0.0)) return 0.0;  // l q can underflow to 0
    const double demanded = lenience_ * drafted.draft;
    return drafted.target >= demanded ? 1.0 : drafted.target / demanded;
  }

  void replacement(const PositionLaws& laws, std::span<double> law) const override {
    for (std::size_t x = 0; x < law.size(); ++x) {
      law[x] = std::max(0.0, laws.target[x] - residual_lenience_ * laws.draft[x]);
    }
    if (!normalise(law)) std::copy(laws.target.begin(), laws.target.end(), law.begin());  // p = q: nothing is rejected
  }

 private:
  double lenience_;
  double residual_lenience_;
};

}  // namespace

MadeRule make(const Lenient& rule) {
  return std::make_unique<LenientRule>(rule.lenience, rule.residual ? rule.lenience : 1.0);
}

}  // namespace foredraft::sim::rules
