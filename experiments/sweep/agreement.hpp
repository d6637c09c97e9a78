// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace foredraft::experiments {

/// How far the simulated tokens per iteration of many points lie from the closed form.
struct Agreement {
  std::uint64_t deviations = 0;      ///< points with a closed form and a standard error
  std::uint64_t not_comparable = 0;  ///< points with a closed form and a simulation, but no finite deviation
  double largest = 0.0;              ///< of their absolute values, in standard errors
  std::uint64_t fewest_units = 0;    ///< independent units behind any of the standard errors

  void add(double deviation_in_se, std::uint64_t units);
};

/// What 99 % of correct runs stay below: the two-sided Sidak bound for this many deviations, by Student's t of
/// fewest_units - 1 degrees of freedom. deviations >= 1, fewest_units >= 2.
[[nodiscard]] double agreement_bound(const Agreement& agreement);

/// One sentence; says so where units are too few for a bound, and how many points could not be compared.
[[nodiscard]] std::string to_text(const Agreement& agreement);

}  // namespace foredraft::experiments
