#include "sim/token/emitted_law.hpp"

#include <cstddef>

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

/// q(x) a(x) for every token, into `law`; returns the sum.
double accepted_mass(const VerificationRule& rule, const PositionLaws& laws, std::vector<double>& law) {
  FOREDRAFT_EXPECT(laws.target.size() == laws.draft.size());
  const double statistic = rule.uses_row_statistic() ? rule.row_statistic(laws) : 0.0;
  law.assign(laws.draft.size(), 0.0);
  double sum = 0.0;
  for (std::size_t x = 0; x < law.size(); ++x) {
    if (!(laws.draft[x] > 0.0)) continue;  // never drafted: a(x) is not defined there
    law[x] =
        laws.draft[x] *
        rule.acceptance({.token = static_cast<Token>(x), .target = laws.target[x], .draft = laws.draft[x]}, statistic);
    sum += law[x];
  }
  return sum;
}

}  // namespace

double acceptance_probability(const VerificationRule& rule, const PositionLaws& laws) {
  std::vector<double> law;
  return accepted_mass(rule, laws, law);
}

std::vector<double> emitted_law(const VerificationRule& rule, const PositionLaws& laws) {
  std::vector<double> law;
  const double rejected = 1.0 - accepted_mass(rule, laws, law);
  std::vector<double> replacement(law.size());
  rule.replacement(laws, replacement);
  for (std::size_t x = 0; x < law.size(); ++x) law[x] += rejected * replacement[x];
  return law;
}

}  // namespace foredraft::sim
