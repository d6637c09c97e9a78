// SPDX-License-Identifier: Apache-2.0
#include "logs/csv_cells.hpp"

#include <cstddef>

#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

/// Where the cell that begins at line[at] ends: a comma outside quotes, or the line.
std::size_t end_of_cell(std::string_view line, std::size_t at) {
  bool quoted = false;
  for (; at < line.size() && (quoted || line[at] != ','); ++at) {
    if (line[at] == '"') quoted = !quoted;
  }
  return at;
}

std::string unquoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
  std::string text;
  for (std::size_t at = 1; at + 1 < cell.size(); ++at) {
    text += cell[at];
    if (cell[at] == '"' && cell[at + 1] == '"' && at + 2 < cell.size()) ++at;
  }
  return text;
}

}  // namespace

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = end_of_cell(line, at);
    cells.push_back(unquoted(trimmed(line.substr(at, end - at))));
    at = end + 1;
  }
  return cells;
}

}  // namespace foredraft::logs
