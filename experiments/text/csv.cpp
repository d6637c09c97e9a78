// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/csv.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "core/numbers.hpp"
#include "core/problems.hpp"

namespace foredraft::experiments {
namespace {

/// Splits into `cells`, reusing their storage. False for an open quote.
bool split(std::string_view line, std::vector<std::string>& cells) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (true) {
    if (used == cells.size()) cells.emplace_back();
    std::string& cell = cells[used++];
    cell.clear();
    if (at < line.size() && line[at] == '"') {
      ++at;
      while (true) {
        const std::size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) return false;
        cell.append(line.substr(at, quote - at));
        at = quote + 1;
        if (at >= line.size() || line[at] != '"') break;
        cell += '"';
        ++at;
      }
    }
    const std::size_t comma = std::min(line.find(',', at), line.size());
    cell.append(line.substr(at, comma - at));
    if (comma == line.size()) break;
    at = comma + 1;
  }
  cells.resize(used);
  return true;
}

/// Whether a spreadsheet would compute the text.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t").find(text.front()) == std::string_view::npos) return false;
  if (text == "-" || text == "-inf") return false;
  return text.starts_with("+-") || !parse_real(text.front() == '+' ? text.substr(1) : text);
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  std::replace_if(
      cell.begin(), cell.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (is_formula(cell)) cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_header(const std::vector<std::string>& names) {
  std::string line;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) {
      throw std::logic_error(fmt::format("two columns are named {}", *name));
    }
    line += (name == names.begin() ? "" : ",") + csv_cell(*name);
  }
  return line + "\n";
}

std::optional<std::vector<std::string>> split_csv_line(std::string_view line) {
  std::vector<std::string> cells;
  if (!split(line, cells)) return std::nullopt;
  return cells;
}

CsvReader::CsvReader(const std::string& path) : path_(path), file_(path) {
  if (!file_.next_line(line_)) throw RunError(fmt::format("{}: is empty", path));
  if (!split(line_, header_)) throw RunError(fmt::format("{}:1: damaged header", path));
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

bool CsvReader::next(std::vector<std::string>& cells) {
  if (!file_.next_line(line_)) return false;
  ++line_number_;
  if (!split(line_, cells) || cells.size() != header_.size()) {
    throw RunError(fmt::format("{}:{}: damaged row", path_, line_number_));
  }
  return true;
}

}  // namespace foredraft::experiments
