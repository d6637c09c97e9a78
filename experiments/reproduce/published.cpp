// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/published.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/csv.hpp"

namespace foredraft::experiments {

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

std::int64_t PublishedTable::count(std::size_t row, std::string_view column) const {
  return static_cast<std::int64_t>(value(row, column));
}

bool PublishedTable::holds(std::size_t row, const RowFilter& where) const {
  return std::all_of(where.begin(), where.end(), [&](const auto& condition) {
    const auto& [column, wanted] = condition;
    const std::string& found = text(row, column);
    return wanted.ends_with('*') ? found.starts_with(wanted.substr(0, wanted.size() - 1)) : found == wanted;
  });
}

std::size_t PublishedTable::row_where(const RowFilter& where) const {
  for (std::size_t row = 0; row < size(); ++row) {
    if (holds(row, where)) return row;
  }
  throw std::logic_error(fmt::format("published table: no row has {} {}", where.at(0).first, where.at(0).second));
}

namespace {

PublishedTable parse_published(const EmbeddedFile& file) {
  std::vector<std::vector<std::string>> lines;
  for (TextLines text(file.text); text.next();) lines.push_back(split_csv_line(text.line()).value());
  const std::vector<std::string> columns = lines.at(0);
  lines.erase(lines.begin());
  for (const auto& line : lines) {
    if (line.size() != columns.size()) throw std::logic_error(fmt::format("{}: a row has the wrong width", file.name));
  }
  return {columns, std::move(lines)};
}

}  // namespace

const PublishedTable& published_table(std::string_view name) {
  static const std::map<std::string_view, PublishedTable> tables = [] {
    std::map<std::string_view, PublishedTable> parsed;
    for (const EmbeddedFile& file : published_files()) parsed.emplace(file.name, parse_published(file));
    return parsed;
  }();
  const auto found = tables.find(name);
  if (found == tables.end()) throw std::logic_error(fmt::format("no published table {}", name));
  return found->second;
}

}  // namespace foredraft::experiments
