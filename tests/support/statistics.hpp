// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace foredraft::tests {

/// p-value of Pearson's chi-squared test of `observed` counts against `expected` counts (same total). Cells expected
/// below 5 are pooled into one; a count in a cell of expectation 0 gives p = 0.
[[nodiscard]] double chi_squared_p_value(std::span<const std::int64_t> observed, std::span<const double> expected);

/// Level for one of `tests` tests so that the family keeps `family_level` (Sidak).
[[nodiscard]] double level_of_one(std::size_t tests);

}  // namespace foredraft::tests
