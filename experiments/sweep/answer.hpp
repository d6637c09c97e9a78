// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foredraft/simulate.hpp"
#include "scenario/metrics.hpp"

namespace foredraft::experiments {

/// Deviations of simulated tokens per iteration from the closed form over many points.
struct Agreement {
  std::uint64_t deviations = 0;      ///< points with a closed form and a standard error
  std::uint64_t not_comparable = 0;  ///< points with a closed form and a simulation, but no finite deviation
  double largest = 0.0;              ///< largest absolute deviation, in standard errors
  std::uint64_t min_units = 0;       ///< minimum number of independent units of a standard error

  void add(double deviation_in_se, std::uint64_t units);
};

/// Bound that 99 % of correct runs do not exceed: the two-sided Sidak bound for this number of deviations, with
/// Student's t of min_units - 1 degrees of freedom. Requires deviations >= 1 and min_units >= 2.
[[nodiscard]] double agreement_bound(const Agreement& agreement);

/// One sentence. States if there are too few units for a bound, and how many points could not be compared.
[[nodiscard]] std::string to_text(const Agreement& agreement);

// ---- Closed form and simulation of one point.

/// Sets the simulation's loss: of its speedup relative to the optimum, which the closed form gives exactly.
void add_loss(const ClosedForm& closed_form, Simulated& simulated);

/// (simulated - closed form) / standard error of a metric; 0 if both agree to round-off; always finite. nullopt if one
/// of the three is missing, or if all units of the simulation are equal, because the standard error is then 0. In this
/// case, if the closed form has a variance of tokens, tokens per iteration are compared with the standard error that
/// the variance implies; other metrics are compared only if the variance is 0 (docs/metrics.md).
[[nodiscard]] std::optional<double> deviation_in_se(const ClosedForm& closed_form, const Simulated& simulated,
                                                    const scenario::Metric& metric);

/// Columns of points.csv after the inputs.
[[nodiscard]] std::vector<std::string> answer_columns(const std::vector<scenario::Metric>& metrics, bool simulated);

/// Appends the cells of answer_columns, separated by commas, without a line end.
void append_answer(const std::vector<scenario::Metric>& metrics, const ClosedForm& closed_form,
                   std::optional<Simulated> simulated, std::string& row);

}  // namespace foredraft::experiments
