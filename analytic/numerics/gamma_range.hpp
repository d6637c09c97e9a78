// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/check.hpp"
#include "foredraft/words.hpp"

namespace foredraft::analytic {

/// Largest gamma that any function takes or gives: gamma + 1 stays within 64 bits, and every finite optimum is below
/// (6.4e18 at the double next to alpha = 1 and the least c above 0).
inline constexpr std::int64_t largest_gamma = 7'000'000'000'000'000'000;

/// Requires min_gamma(convention) <= gamma <= largest_gamma.
inline void check_gamma(std::int64_t gamma, Convention convention) {
  check_at_least("gamma", gamma, min_gamma(convention));
  if (gamma > largest_gamma) check_range("gamma", gamma, min_gamma(convention), largest_gamma);
}

}  // namespace foredraft::analytic
