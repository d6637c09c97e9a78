// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/rule_definition.hpp"

namespace foredraft::sim::rules {
namespace {

/// Rejection sampling against a fraction l of q: accept x ~ q with probability min(1, p(x) / (l q(x)))
/// [Leviathan2023, App. A.5]. The source leaves open what a rejection draws from: here the residual of p and l q, or,
/// on request, the residual of p and q. Either way no token is emitted with more than p(x) / l, and l = 1 is
/// rejection_sampling.
class Lenient final : public VerificationRule {
 public:
  Lenient(double lenience, double residual_lenience) : lenience_(lenience), residual_lenience_(residual_lenience) {}

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

RuleDefinition lenient() {
  return {
      .entry = {.name = "lenient",
                .summary = "accept with probability min(1, p/(l q)), l the lenience",
                .source = "Leviathan2023, App. A.5",
                .lossless = false,
                .parameters = {{.name = "lenience",
                                .default_value = 0.5,
                                .minimum = 0.0,
                                .maximum = 1.0,
                                .summary = "lenient: l, the fraction of q that p has to reach; 1: rejection_sampling",
                                .excludes_minimum = true},
                               {.name = "residual",
                                .default_value = 1.0,
                                .minimum = 0.0,
                                .maximum = 1.0,
                                .summary = "lenient: a rejection draws from max(0, p - l q) (1) or max(0, p - q) (0)",
                                .whole = true}}},
      .make = [](const RuleParameters& parameters) -> std::unique_ptr<const VerificationRule> {
        const double lenience = parameters.at("lenience");
        return std::make_unique<Lenient>(lenience, parameters.at("residual") == 1.0 ? lenience : 1.0);
      }};
}

}  // namespace foredraft::sim::rules
