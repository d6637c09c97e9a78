// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/plus2_minus1.hpp"

#include <cmath>
#include <cstdint>

#include "analytic/numerics/compensated_sum.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"

namespace foredraft::analytic {
namespace {

/// [g - 1]: alpha^g up to a length that the chain passes with a chance below 1e-20: the equilibrium, twelve standard
/// deviations of the diffusion around it (variance 1 / -ln alpha) and a margin for small alpha, where lengths are few.
std::vector<double> uncapped_marginal(double alpha) {
  check_probability("alpha", alpha);
  if (alpha > plus2_minus1_largest_alpha) {
    throw DomainError("invalid alpha (must be at most 1 - 1e-6 without a cap on gamma: the length grows for ever)");
  }
  constexpr double deviations = 12.0;
  constexpr double margin = 64.0;
  const double a = alpha > 0.0 ? stable::negative_log(alpha, 1.0 - alpha) : 1.0;
  const auto cap =
      static_cast<std::int64_t>(std::ceil(plus2_minus1_equilibrium(alpha) + deviations / std::sqrt(a) + margin));
  std::vector<double> marginal;
  for (std::int64_t g = 1; g <= cap; ++g) marginal.push_back(std::pow(alpha, static_cast<double>(g)));
  return marginal;
}

}  // namespace

std::vector<double> plus2_minus1_law(std::span<const double> marginal) {
  check_marginal(marginal);
  const std::size_t cap = marginal.size();
  // The flow up across the cut between g and g + 1 comes from g and from g - 1, the flow down from g + 1 alone:
  //   pi(g+1) (1 - m(g+1)) = pi(g) m(g) + pi(g-1) m(g-1),
  // a recursion of positive terms. Lengths below the last one that is accepted for certain are left for ever.
  std::size_t first = 0;
  while (first + 1 < cap && marginal[first + 1] == 1.0) ++first;
  std::vector<double> law(cap, 0.0);
  law[first] = 1.0;
  constexpr double large = 1e250;
  std::size_t cleared = first;  // entries before it are 0
  std::size_t window = first;   // entries before it are negligible beside the present ones
  for (std::size_t g = first + 1; g < cap; ++g) {
    const double from_two_below = g >= first + 2 ? law[g - 2] * marginal[g - 2] : 0.0;
    law[g] = (law[g - 1] * marginal[g - 1] + from_two_below) / (1.0 - marginal[g]);
    if (law[g] < large) continue;
    for (; cleared < window; ++cleared) law[cleared] = 0.0;
    for (std::size_t i = window; i <= g; ++i) law[i] /= large;
    window = g - 1;
  }
  CompensatedSum total;
  for (const double mass : law) total.add(mass);
  for (double& mass : law) mass /= total.value();
  return law;
}

std::vector<double> plus2_minus1_law(double alpha) { return plus2_minus1_law(uncapped_marginal(alpha)); }

VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention) {
  const std::vector<double> law = plus2_minus1_law(marginal);
  CompensatedSum tokens;
  CompensatedSum drafted;
  CompensatedSum yield;  // of an iteration of g drafts
  yield.add(1.0);
  for (std::size_t g = 1; g <= law.size(); ++g) {
    if (convention == Convention::bonus) yield.add(marginal[g - 1]);
    tokens.add(law[g - 1] * yield.value());
    drafted.add(law[g - 1] * static_cast<double>(g));
    if (convention == Convention::no_bonus) yield.add(marginal[g - 1]);
  }
  return {tokens.value(), drafted.value()};
}

VaryingYield plus2_minus1(double alpha, Convention convention) {
  return plus2_minus1(uncapped_marginal(alpha), convention);
}

double plus2_minus1_equilibrium(double alpha) {
  check_probability("alpha", alpha);
  return std::log(3.0) / stable::negative_log(alpha, 1.0 - alpha);
}

}  // namespace foredraft::analytic
