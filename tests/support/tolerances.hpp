// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Named tolerances, each with its reason. Tests use these, never a bare number.
namespace foredraft::tests {

/// A deterministic result computed in a handful of double operations: a few units in the last place of 2.2e-16.
inline constexpr double few_ulp = 4e-15;

/// Two independent computations in double precision with some hundreds of operations each.
inline constexpr double second_route = 1e-12;

/// A single-precision result of some tens of operations against its double-precision value, relative to the size of its
/// terms: some tens of roundings of 6e-8.
inline constexpr double single_precision = 2e-6;

/// A root of an equation in double precision: the residual that the solver may leave.
inline constexpr double solved_root = 1e-9;

/// A simulated mean against its expectation, in standard errors. The two-sided chance that a correct run lies further
/// away is 5.7e-7; seeds are fixed, so a test that passes keeps passing.
inline constexpr double standard_errors = 5.0;

/// Family-wise level of a goodness-of-fit test: a correct sampler fails one in a million. Divide by the number of
/// tests.
inline constexpr double family_level = 1e-6;

}  // namespace foredraft::tests
