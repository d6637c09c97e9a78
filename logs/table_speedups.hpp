// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "logs/shaped_table.hpp"

/// Tables of speedups over a speed without speculation.
namespace foredraft::logs {

/// Of a table of which a heading states the speed without speculation ("vs 10.9 t/s unassisted"), above gains over it:
/// each row as a run that drafts, and one that does not.
[[nodiscard]] std::optional<ShapedTable> table_over_plain(std::span<const std::string> headings,
                                                          std::span<const TableRow> rows);

/// Whether one heading is that of a speed without speculation and another one that of speedups, and none of other
/// speeds: "plain tok/s", "K", "speedup".
[[nodiscard]] bool names_speedups(std::span<const std::string> headings);

/// Of such a table each row as a run that drafts, and one that does not.
[[nodiscard]] std::optional<ShapedTable> table_by_speedup(std::span<const std::string> headings,
                                                          std::span<const TableRow> rows);

}  // namespace foredraft::logs
