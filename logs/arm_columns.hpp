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

/// The table with one row per run, if its headings name arms, with their metric ("MTP K=3 tok/s", "tok/s (plain)") or
/// without ("plain", "MTP"), or if its first column names metrics and the others are arms ("Metric", "baseline",
/// "MTP"), one run ("Metric", "Value") or kinds of prompts; else nullopt. The first column of the result names the arm
/// or the kind. Other columns are copied to each arm; acceptance and draft length without an arm go only to arms that
/// draft. `measure`: what the cells of arms without metric measure if they do not say so themselves, or empty. Throws
/// RejectedRecord if nothing says it.
[[nodiscard]] std::optional<ShapedTable> table_by_arm(std::span<const std::string> headings,
                                                      std::span<const TableRow> rows, std::string_view measure);

/// Whether a name beside those of runs is of none: a gain, a quantile, a threshold, a note.
[[nodiscard]] bool is_no_run(std::string_view name);

/// Whether table_by_arm would return a table of these headings.
[[nodiscard]] bool names_arms(std::span<const std::string> headings);

}  // namespace foredraft::logs
