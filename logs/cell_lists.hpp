// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "logs/table_shapes.hpp"

/// Cells that hold several values, by what their words say of these.
namespace foredraft::logs {

/// Headings without the loads that they list, and with "output" for "total/output": what their cells hold then.
[[nodiscard]] std::vector<std::string> headings_of_lists(std::span<const std::string> headings);

/// The same table with one value a cell: "1.27x (63 -> 80 tok/s)" is "63 tok/s -> 80 tok/s", "25.9 / 57.8 out/total" is
/// "25.9 tok/s". A column below an unknown heading that has speeds so is one of "tok/s".
[[nodiscard]] ShapedTable with_told_values(std::span<const std::string> headings, std::span<const TableRow> rows);

/// A row for each load that a heading lists: "tok/s at 1/4/16" above "40 / 30 / 18". Other values that are measured
/// stay in a row without load.
[[nodiscard]] ShapedTable by_listed_load(ShapedTable table);

}  // namespace foredraft::logs
