// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"
#include "scenario/metrics.hpp"

/// A closed form and a simulation of one point side by side.
namespace foredraft::experiments {

/// (simulated - closed form) / standard error of a metric; 0 where both agree to round-off; always finite. Nothing
/// where one of the three is missing, or where no unit of the simulation differs from another: its standard error of 0
/// says nothing then. Where the closed form has a variance of tokens, tokens per iteration are compared in that case by
/// the standard error that it implies, and the other metrics where it implies none: docs/metrics.md.
[[nodiscard]] std::optional<double> deviation_in_se(const ClosedForm& closed_form, const Simulated& simulated,
                                                    const scenario::Metric& metric);

/// Columns of points.csv behind the inputs.
[[nodiscard]] std::vector<std::string> answer_columns(const SweepConfig& config);

/// The cells that go with answer_columns, commas between, without a line end. `simulated` is null without simulation.
void append_answer(const SweepConfig& config, const ClosedForm& closed_form, const Simulated* simulated,
                   std::string& row);

}  // namespace foredraft::experiments
