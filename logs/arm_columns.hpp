// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "logs/log_format.hpp"

/// Tables whose arms (without speculation, with K drafts) are in columns, not in rows.
namespace foredraft::logs {

/// The same table with a row for each arm, which its first column names.
struct ArmTable {
  std::vector<std::string> headings = {};
  std::vector<TableRow> rows = {};
};

/// Of a table whose headings name an arm and what was measured ("MTP K=3 tok/s", "tok/s (plain)"), or whose first
/// column names what was measured and whose other headings are arms ("Metric", "baseline", "MTP"); else nullopt.
/// Columns that are neither go with each arm; an acceptance or draft length without an arm is that of those that draft.
[[nodiscard]] std::optional<ArmTable> table_by_arm(std::span<const std::string> headings,
                                                   std::span<const TableRow> rows);

/// Whether table_by_arm would return a table of these headings.
[[nodiscard]] bool names_arms(std::span<const std::string> headings);

}  // namespace foredraft::logs
