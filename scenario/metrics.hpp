// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foredraft/quantities.hpp"

/// The table of output quantities: the only source of CSV headers, labels and docs/metrics.md.
namespace foredraft::scenario {

enum class Needs {
  nothing,
  cost,
  operations_ratio,
  varying_gamma,
  token_confidence,
  several_candidates,
  serving,
  latency_goal
};

struct Metric {
  /// Column stem: analytic_NAME, simulated_NAME, simulated_NAME_standard_error, NAME_deviation_in_se.
  std::string_view name;
  std::string_view unit;            ///< empty for ratios
  std::string_view label;           ///< for axes of figures
  double ClosedForm::*closed_form;  ///< null: no process has a closed form
  Estimate Estimates::*estimate;    ///< null: not simulated
  Needs needs;                      ///< input that the metric requires
  std::string_view meaning;
  std::string_view estimated;  ///< how the simulation estimates it and its standard error
};

[[nodiscard]] const std::vector<Metric>& metrics();

/// Null for an unknown name.
[[nodiscard]] const Metric* find_metric(std::string_view name);

/// A column of points.csv.
struct ResultColumn {
  std::string name;
  std::string_view unit;  ///< empty for ratios and indices
  std::string_view meaning;
  std::string_view estimated;  ///< "closed form", or how the simulation estimates it; empty: follows from other columns
};

/// All columns of points.csv except the inputs, which follow `index` and are named as in the configuration.
[[nodiscard]] std::vector<ResultColumn> result_columns();

}  // namespace foredraft::scenario
