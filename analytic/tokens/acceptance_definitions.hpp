// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/words.hpp"

/// Conversions among the acceptance numbers in use. All assume i.i.d. acceptance; gamma >= 1.
namespace foredraft::analytic {

/// Every definition for one alpha and gamma, gamma at most 1e7 (the vectors).
struct AcceptanceNumbers {
  double per_token;                 ///< accepted over verified until the first rejection: alpha itself
  std::vector<double> conditional;  ///< [i]: draft i accepted given all before it, i = 0..gamma-1
  std::vector<double> marginal;     ///< [i]: draft i and all before it accepted
  double accepted_over_drafted;     ///< accepted drafts over drafted tokens
  double acceptance_length;         ///< tokens per iteration, the corrected or bonus token included
};
[[nodiscard]] AcceptanceNumbers acceptance_numbers(double alpha, std::int64_t gamma, Convention convention);

/// The alpha whose tokens per iteration are `acceptance_length`, in [1, max_tokens]. max_tokens >= 2: one token says
/// nothing about alpha.
[[nodiscard]] double alpha_from_acceptance_length(double acceptance_length, std::int64_t gamma, Convention convention);

/// The alpha whose accepted drafts over drafted tokens are `accepted_over_drafted`, in [0, 1].
[[nodiscard]] double alpha_from_accepted_over_drafted(double accepted_over_drafted, std::int64_t gamma);

}  // namespace foredraft::analytic
