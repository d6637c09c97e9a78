// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rules/verification_rule.hpp"

#include <algorithm>
#include <vector>

namespace foredraft::sim {
namespace {

/// A user-defined rule, tabulated for one context.
class GivenRule final : public VerificationRule {
 public:
  GivenRule(const GivenDistributions& given, std::size_t context)
      : acceptance_(given.acceptance[context]),
        replacement_(given.replacement[context]),
        bonus_(given.bonus.empty() ? given.target[context] : given.bonus[context]) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    return acceptance_[static_cast<std::size_t>(drafted.token)];
  }

  void replacement(const PositionDistributions& /*distributions*/, std::span<double> distribution) const override {
    std::copy(replacement_.begin(), replacement_.end(), distribution.begin());
  }

  void bonus(std::span<const double> /*target*/, std::span<double> distribution) const override {
    std::copy(bonus_.begin(), bonus_.end(), distribution.begin());
  }

 private:
  std::span<const double> acceptance_, replacement_, bonus_;
};

}  // namespace

double VerificationRule::row_statistic(const PositionDistributions& /*distributions*/) const { return 0.0; }

void VerificationRule::bonus(std::span<const double> target, std::span<double> distribution) const {
  std::copy(target.begin(), target.end(), distribution.begin());
}

std::vector<std::int64_t> candidate_counts(const VerificationRule& rule, std::int64_t gamma) {
  std::vector<std::int64_t> counts;
  for (std::int64_t depth = 1; depth <= gamma; ++depth) counts.push_back(rule.candidates(depth).count);
  return counts;
}

void write_residual(const PositionDistributions& distributions, double l, std::span<double> distribution) {
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    distribution[x] = std::max(0.0, distributions.target[x] - l * distributions.draft[x]);
  }
  if (!normalize(distribution)) std::ranges::copy(distributions.target, distribution.begin());
}

std::unique_ptr<const VerificationRule> make_rule(const Rule& rule) {
  return std::visit([](const auto& chosen) { return rules::make(chosen); }, rule);
}

std::unique_ptr<const VerificationRule> make_rule(const GivenDistributions& given, std::size_t context,
                                                  const Rule& rule) {
  if (given.acceptance.empty()) return make_rule(rule);
  return std::make_unique<GivenRule>(given, context);
}

}  // namespace foredraft::sim
