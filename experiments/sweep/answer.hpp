// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foredraft/simulate.hpp"
#include "scenario/metrics.hpp"

namespace foredraft::experiments {

/// How far the simulated tokens per iteration of many points lie from the closed form.
struct Agreement {
  std::uint64_t deviations = 0;      ///< points with a closed form and a standard error
  std::uint64_t not_comparable = 0;  ///< points with a closed form and a simulation, but no finite deviation
  double largest = 0.0;              ///< of their absolute values, in standard errors
  std::uint64_t min_units = 0;       ///< minimum number of independent units of a standard error

  void add(double deviation_in_se, std::uint64_t units);
};

/// What 99 % of correct runs stay below: the two-sided Sidak bound for this many deviations, by Student's t of
/// min_units - 1 degrees of freedom. deviations >= 1, min_units >= 2.
[[nodiscard]] double agreement_bound(const Agreement& agreement);

/// One sentence; says so where units are too few for a bound, and how many points could not be compared.
[[nodiscard]] std::string to_text(const Agreement& agreement);

// ---- A closed form and a simulation of one point side by side.

/// Sets the loss of a simulation: that of its speedup against the optimum of the closed form, which is exact.
void add_loss(const ClosedForm& closed_form, Simulated& simulated);

/// (simulated - closed form) / standard error of a metric; 0 if both agree to round-off; always finite. nullopt if one
/// of the three is missing, or if all units of the simulation are equal: its standard error of 0 says nothing then. If
/// the closed form has a variance of tokens, tokens per iteration are compared in that case by the standard error that
/// it implies, and the other metrics if it implies none: docs/metrics.md.
[[nodiscard]] std::optional<double> deviation_in_se(const ClosedForm& closed_form, const Simulated& simulated,
                                                    const scenario::Metric& metric);

/// Columns of points.csv after the inputs.
[[nodiscard]] std::vector<std::string> answer_columns(const std::vector<scenario::Metric>& metrics, bool simulated);

/// The cells that go with answer_columns, commas between, without a line end.
void append_answer(const std::vector<scenario::Metric>& metrics, const ClosedForm& closed_form,
                   std::optional<Simulated> simulated, std::string& row);

}  // namespace foredraft::experiments
