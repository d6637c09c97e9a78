// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foredraft/quantities.hpp"

/// The dictionary of output quantities: the one source of CSV headers, labels and docs/metrics.md.
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
  double ClosedForm::*closed_form;  ///< null: there is none for any process
  Estimate Estimates::*estimate;    ///< null: no simulation counts it
  Needs needs;                      ///< the input without which it does not exist
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

/// Every column of points.csv but those of the inputs, which stand after `index` under the names of the configuration.
[[nodiscard]] std::vector<ResultColumn> result_columns();

}  // namespace foredraft::scenario
