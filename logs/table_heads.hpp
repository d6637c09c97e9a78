// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_format.hpp"
#include "logs/table_shapes.hpp"

/// Heads that say more than what each column is: of two rows, of groups of columns, of what a change brought.
namespace foredraft::logs {

/// Whether a head of which the row below has no numbers may be the upper one of two: it has words above at most one of
/// several columns, as a title, or none where the row below names a metric.
[[nodiscard]] bool may_be_upper_head(std::span<const std::string> headings, std::span<const std::string> below);

/// A head of two rows as one, and the line above it with a title that is the upper row.
struct JoinedHead {
  std::vector<std::string> headings = {};
  std::string caption = {};
};

/// "GSM8K | | MATH |" above "tok/s | AL | tok/s | AL" is "GSM8K tok/s | GSM8K AL | MATH tok/s | MATH AL".
[[nodiscard]] JoinedHead joined_head(std::span<const std::string> upper, std::span<const std::string> lower,
                                     std::string_view caption);

/// Whether headings are those of table_by_group.
[[nodiscard]] bool names_groups(std::span<const std::string> headings);

/// A table whose columns are data sets, with the same metrics of each ("GSM8K tok/s", "GSM8K AL", "MATH tok/s", ...):
/// with a row for each data set, or only for the mean of all, if there is one; nullopt for others.
[[nodiscard]] std::optional<ShapedTable> table_by_group(std::span<const std::string> headings,
                                                        std::span<const TableRow> rows);

/// Calls a first column of draft lengths "K", if its heading says nothing or only the load: "K=2", "K=3" below "BS 1".
/// Returns the names of its other rows, which it removes: "best K".
std::vector<std::string> tell_rows_of_lengths(ShapedTable& table, std::string& caption);

/// Of a table of arms by kinds of prompts or loads, with a row for each cell: makes rows of acceptance, "acceptance
/// length" below "baseline" and "MTP", columns of the only arm that drafts, or of the one that they name, and removes
/// the other rows of metrics. Returns the names of those that are of no arm: "TTFT (ms)".
std::vector<std::string> tell_rows_of_metrics(ShapedTable& table);

/// Calls columns "before" and "after" those of the arms, if a column names what drafts, or the line above says that
/// speculation is the change. Returns whether it did.
bool tell_change(ShapedTable& table, std::string_view caption);

/// Whether headings may be those of tell_change().
[[nodiscard]] bool may_name_change(std::span<const std::string> headings);

}  // namespace foredraft::logs
