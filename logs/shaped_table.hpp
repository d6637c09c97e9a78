// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "logs/headings.hpp"
#include "logs/log_format.hpp"

namespace foredraft::logs {

/// A table, on its way to a run a row.
struct ShapedTable {
  std::vector<std::string> headings = {};
  std::vector<TableRow> rows = {};
};

/// What columns with these headings mean, each by itself.
[[nodiscard]] std::vector<Meaning> meanings_of(std::span<const std::string> headings);

/// Whether cells of such a column say what their row is.
[[nodiscard]] bool names_rows(Meaning meaning);

/// Whether each cell of the column that is not empty is a speed with its unit.
[[nodiscard]] bool holds_speeds(std::span<const TableRow> rows, std::size_t column);

}  // namespace foredraft::logs
