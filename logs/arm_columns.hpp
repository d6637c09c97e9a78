// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "logs/log_format.hpp"
#include "logs/table_shapes.hpp"

/// Tables whose arms (without speculation, with K drafts) are in columns, not in rows.
namespace foredraft::logs {

/// For a table whose headings name an arm and a metric ("MTP K=3 tok/s", "tok/s (plain)"), or whose first column names
/// metrics and whose other headings are arms ("Metric", "baseline", "MTP"), one run ("Metric", "Value") or kinds of
/// prompts; else nullopt. The first column of the result names the arm. Other columns are copied to each arm; an
/// acceptance or draft length without an arm belongs to the arms that draft. `measure`: what the cells of arms measure
/// if they do not say so themselves, or empty.
[[nodiscard]] std::optional<ShapedTable> table_by_arm(std::span<const std::string> headings,
                                                      std::span<const TableRow> rows, std::string_view measure);

/// Whether table_by_arm would return a table of these headings.
[[nodiscard]] bool names_arms(std::span<const std::string> headings);

}  // namespace foredraft::logs
