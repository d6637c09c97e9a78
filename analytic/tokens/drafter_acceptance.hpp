// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// Drafters whose drafts get worse with their position: what the functions of token_law.hpp take.
namespace foredraft::analytic {

/// Conditional acceptance first * decay^i of draft i = 0, 1, ..., `gamma` entries. first and decay in [0, 1].
[[nodiscard]] std::vector<double> decaying_acceptance(double first, double decay, std::int64_t gamma);

/// What is left of a decay where seeing the token before gives back the share `recovery` of the loss, on a logarithmic
/// scale: decay^(1 - recovery). Both in [0, 1]; recovery 1: no decay at all.
[[nodiscard]] double recovered_decay(double decay, double recovery);

/// Drafts until the chance that all of them are accepted falls below 1e-20, at most 100,000: beyond these, gamma makes
/// no difference. first, decay in [0, 1].
[[nodiscard]] std::int64_t last_useful_draft(double first, double decay);

}  // namespace foredraft::analytic
