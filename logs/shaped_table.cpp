// SPDX-License-Identifier: Apache-2.0
#include "logs/shaped_table.hpp"

#include <algorithm>

#include "logs/headings.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {

bool names_rows(Meaning meaning) {
  return meaning == Meaning::name || meaning == Meaning::subject || meaning == Meaning::category;
}

std::vector<Meaning> meanings_of(std::span<const std::string> headings) {
  std::vector<Meaning> meanings;
  for (const std::string& heading : headings) meanings.push_back(column_of(bare_cell(heading)).meaning);
  return meanings;
}

bool holds_speeds(std::span<const TableRow> rows, std::size_t column) {
  const auto speed_or_none = [&](const TableRow& row) {
    const std::string cell = bare_cell(row.cells[column]);
    return cell.empty() || !number_of_cell(cell).value || in_tokens_per_s(cell);
  };
  return std::ranges::all_of(rows, speed_or_none) &&
         std::ranges::any_of(rows, [&](const TableRow& row) { return in_tokens_per_s(row.cells[column]); });
}

}  // namespace foredraft::logs
