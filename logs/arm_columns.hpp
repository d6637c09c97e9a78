// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "logs/log_format.hpp"

/// Tables whose arms (without speculation, with K drafts) are in columns, not in rows.
namespace foredraft::logs {

/// The same table with a row for each arm, named in its first column.
struct ArmTable {
  std::vector<std::string> headings = {};
  std::vector<TableRow> rows = {};
};

/// For a table whose headings name an arm and a metric ("MTP K=3 tok/s", "tok/s (plain)"), or whose first column names
/// metrics and whose other headings are arms ("Metric", "baseline", "MTP"); else nullopt. Other columns are copied to
/// each arm; an acceptance or draft length without an arm belongs to the arms that draft.
[[nodiscard]] std::optional<ArmTable> table_by_arm(std::span<const std::string> headings,
                                                   std::span<const TableRow> rows);

/// Whether table_by_arm would return a table of these headings.
[[nodiscard]] bool names_arms(std::span<const std::string> headings);

}  // namespace foredraft::logs
