// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/quantities.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {

/// Checks that an estimate differs from `expected` by at most its error, or by round-off if nothing is random.
inline void check_estimate(const Estimate& simulated, double expected, double round_off = few_ulp) {
  INFO("simulated " << simulated.mean << " +- " << simulated.standard_error << ", expected " << expected);
  CHECK(std::abs(simulated.mean - expected) <=
        standard_errors * simulated.standard_error + round_off * std::abs(expected));
}

}  // namespace foredraft::tests
