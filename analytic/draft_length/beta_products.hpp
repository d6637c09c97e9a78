// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace foredraft::analytic {

/// [k]: P(B_1 ... B_k >= e^-budget), k = 0..count, for independent B_i ~ Beta(a, b), a, b > 0. Relative error about
/// 1e-12 for a + b < 1e6, 1e-9 at 1e9. Values below 1e-20 are 0. Derivation in docs/model.md.
[[nodiscard]] std::vector<double> product_survival(double a, double b, double budget, std::int64_t count);

}  // namespace foredraft::analytic
