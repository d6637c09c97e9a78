// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/published.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "experiments/text/csv.hpp"

namespace foredraft::experiments {

PublishedTable::PublishedTable(std::vector<std::string> columns, std::vector<std::vector<std::string>> rows)
    : columns_(std::move(columns)), rows_(std::move(rows)) {}

const std::string& PublishedTable::text(std::size_t row, std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) throw std::logic_error(fmt::format("published table: no column {}", column));
  return rows_.at(row).at(static_cast<std::size_t>(found - columns_.begin()));
}

bool PublishedTable::is_number(std::size_t row, std::string_view column) const {
  return is_printed_number(text(row, column));
}

PrintedNumber PublishedTable::number(std::size_t row, std::string_view column) const {
  return parse_printed_number(text(row, column));
}

PublishedTable published_table(std::string_view name) {
  for (const PublishedFile& file : published_files()) {
    if (file.name != name) continue;
    std::vector<std::vector<std::string>> lines;
    for (std::string_view rest = file.content; !rest.empty();) {
      const auto end = std::min(rest.find('\n'), rest.size());
      if (end > 0) lines.push_back(split_csv_line(rest.substr(0, end)).value());
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const std::vector<std::string> columns = lines.at(0);
    lines.erase(lines.begin());
    for (const auto& line : lines) {
      if (line.size() != columns.size()) throw std::logic_error(fmt::format("{}: a row has the wrong width", name));
    }
    return {columns, std::move(lines)};
  }
  throw std::logic_error(fmt::format("no published table {}", name));
}

}  // namespace foredraft::experiments
