// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace foredraft::analytic {

/// Requires probabilities that never rise: m_i counts a draft together with all before it. Internal to analytic.
void check_marginal(std::span<const double> marginal);

}  // namespace foredraft::analytic
