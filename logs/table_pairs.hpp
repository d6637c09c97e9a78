// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/shaped_table.hpp"

/// Tables whose cells state both arms: "22.7 -> 40.6", "22.7 / 40.6".
namespace foredraft::logs {

/// Adds a column of arms to a table without one whose caption or headings say what its pairs are: "tok/s (plain ->
/// MTP)", "TPOT b -> d". Returns these words.
std::string tell_sides(ShapedTable& table, std::string_view caption);

/// Headings without the words that say what their pairs are.
[[nodiscard]] std::vector<std::string> without_sides(std::vector<std::string> headings);

/// "22.7 -> 40.6" is a row without speculation and one with it, where the row names an arm; so is "22.7 / 40.6" beside
/// "off / on".
[[nodiscard]] std::vector<TableRow> with_both_sides(std::span<const Meaning> meanings, std::span<const TableRow> rows);

}  // namespace foredraft::logs
