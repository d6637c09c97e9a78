// SPDX-License-Identifier: Apache-2.0
#include "sim/token/law/emitted_law.hpp"

#include <cstddef>

#include "core/contract.hpp"
#include "sim/token/law/candidate_acceptance.hpp"

namespace foredraft::sim {
namespace {

/// sum q a and sum q (1 - a), each from terms that are not negative: neither is 1 minus the other's round-off.
struct TestedMass {
  double accepted;
  double rejected;
};

/// q(x) a(x) for every token, into `law`, and the sums.
TestedMass tested_mass(const VerificationRule& rule, const PositionLaws& laws, std::vector<double>& law) {
  FOREDRAFT_EXPECT(laws.target.size() == laws.draft.size());
  const double statistic = rule.uses_row_statistic() ? rule.row_statistic(laws) : 0.0;
  law.assign(laws.draft.size(), 0.0);
  TestedMass mass{.accepted = 0.0, .rejected = 0.0};
  for (std::size_t x = 0; x < law.size(); ++x) {
    if (!(laws.draft[x] > 0.0)) continue;  // never drafted: a(x) is not defined there
    const double acceptance =
        rule.acceptance({.token = static_cast<Token>(x), .target = laws.target[x], .draft = laws.draft[x]}, statistic);
    law[x] = laws.draft[x] * acceptance;
    mass.accepted += law[x];
    mass.rejected += laws.draft[x] * (1.0 - acceptance);
  }
  return mass;
}

}  // namespace

double acceptance_probability(const VerificationRule& rule, const PositionLaws& laws) {
  if (rule.candidates().count > 1) return candidate_acceptance(laws, rule.candidates());
  std::vector<double> law;
  return tested_mass(rule, laws, law).accepted;
}

std::vector<double> emitted_law(const VerificationRule& rule, const PositionLaws& laws) {
  std::vector<double> law;
  const double rejected = tested_mass(rule, laws, law).rejected;
  std::vector<double> replacement(law.size());
  rule.replacement(laws, replacement);
  for (std::size_t x = 0; x < law.size(); ++x) law[x] += rejected * replacement[x];
  return law;
}

}  // namespace foredraft::sim
