// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/several_chains.hpp"

#include <cmath>

#include "analytic/numerics/compensated_sum.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

double chains_tokens(double any_first, double conditional, std::int64_t depth) {
  check_probability("any_first", any_first);
  check_probability("conditional", conditional);
  check_at_least("depth", depth, 0);
  return 1.0 + any_first * stable::geometric_sum(conditional, 1.0 - conditional, depth);
}

double independent_drafts_tokens(double alpha, std::int64_t gamma, std::int64_t drafts) {
  constexpr std::int64_t longest = 1'000'000;
  check_probability("alpha", alpha);
  check_range("gamma", gamma, 0, longest);
  check_at_least("drafts", drafts, 1);
  // 1 + sum of the probabilities that some draft reaches i: none of them cancels.
  CompensatedSum tokens;
  tokens.add(1.0);
  double reach = 1.0;
  for (std::int64_t i = 0; i < gamma; ++i) {
    reach *= alpha;
    tokens.add(-std::expm1(static_cast<double>(drafts) * std::log1p(-reach)));
  }
  return tokens.value();
}

}  // namespace foredraft::analytic
