// SPDX-License-Identifier: Apache-2.0
#include "core/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/documents.hpp"
#include "core/problems.hpp"

namespace foredraft {
namespace {

/// False if a quote is not closed.
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

constexpr std::size_t max_messages = 20;

/// True if a spreadsheet would interpret the text as a formula.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t").find(text.front()) == std::string_view::npos) return false;
  if (text == "-" || text == "-inf") return false;
  return text.starts_with("+-") || !parse_real(text.front() == '+' ? text.substr(1) : text);
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  std::ranges::replace(cell, '\n', ' ');
  std::ranges::replace(cell, '\r', ' ');
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

DataText& DataText::row() {
  rows_.emplace_back();
  return *this;
}

DataText& DataText::add(std::string cell) {
  rows_.back().push_back(std::move(cell));
  return *this;
}

DataText& DataText::cell(const std::optional<Estimate>& estimate) {
  return estimate ? cell(estimate->mean).cell(estimate->standard_error) : add("").add("");
}

std::string DataText::csv() const {
  std::string text = csv_header(columns_);
  for (const auto& cells : rows_) {
    if (cells.size() != columns_.size()) throw std::logic_error("data text: a row has the wrong number of cells");
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::optional<std::vector<std::string>> split_csv_line(std::string_view line) {
  std::vector<std::string> cells;
  if (!split(line, cells)) return std::nullopt;
  return cells;
}

std::optional<std::size_t> CsvHeader::column(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

CsvReader::CsvReader(const std::string& path) : path_(path), file_(path) {
  if (!file_.next_line(line_)) throw RunError(fmt::format("{}: is empty", path));
  if (!split(line_, header_.names)) throw RunError(fmt::format("{}:1: damaged header", path));
}

bool CsvReader::next(std::vector<std::string>& cells) {
  if (!file_.next_line(line_)) return false;
  ++line_number_;
  if (split(line_, cells) && cells.size() == header_.names.size()) return true;
  throw RunError(fmt::format("{}:{}: damaged row", path_, line_number_));
}

void FirstProblems::add(Problem problem) {
  last_line_ = problem.line;
  if (++count_ <= max_messages) problems_.add(std::move(problem));
}

void FirstProblems::raise() {
  if (count_ > max_messages) {
    problems_.add({.line = last_line_, .text = fmt::format("and {} more up to here", count_ - max_messages)});
  }
  problems_.raise();
}

UserTable::UserTable(std::string_view text, const std::string& file, std::vector<std::string> required,
                     std::vector<std::string> optional)
    : lines_(text), problems_(file), required_(std::move(required)), optional_(std::move(optional)) {
  ProblemList limits(file);
  if (!check_line_limits(text, limits)) limits.raise();
}

bool UserTable::next() {
  while (readable_ && lines_.next()) {
    line_ = lines_.number();
    row_rejected_ = false;
    const std::size_t width = header_.names.size();
    if (!split(lines_.line(), width == 0 ? header_.names : cells_)) {
      reject("", "damaged row", "a quote is not closed");
      readable_ = width > 0;
    } else if (width == 0) {
      check_header();
    } else if (cells_.size() != width) {
      reject("", fmt::format("{} cell{}", cells_.size(), cells_.size() == 1 ? "" : "s"),
             fmt::format("the header has {}", width));
    } else {
      ++rows_;
      return true;
    }
  }
  return false;
}

std::string UserTable::cell(std::string_view column) const {
  const auto place = header_.column(column);
  return place ? cells_[*place] : "";
}

std::int64_t UserTable::count(std::string_view column, std::int64_t minimum, std::int64_t maximum) {
  const auto number = parse_integer(cell(column));
  if (number && *number >= minimum && *number <= maximum) return *number;
  reject_cell(column, fmt::format("must be a whole number from {} to {}", minimum, maximum));
  return minimum;
}

double UserTable::positive(std::string_view column) {
  const auto number = parse_real(cell(column));
  if (number && *number > 0.0) return *number;
  reject_cell(column, "must be finite and above 0");
  return 0.0;
}

double UserTable::probability(std::string_view column) {
  const auto number = parse_real(cell(column));
  if (number && *number >= 0.0 && *number <= 1.0) return *number;
  reject_cell(column, "must be a number from 0 to 1");
  return 0.0;
}

std::string UserTable::name(std::string_view column) {
  std::string text = cell(column);
  if (text.empty() || text.find_first_of(",\"") != std::string::npos) {
    reject_cell(column, "must be a name without commas and quotes");
  } else if (csv_cell(text) != text) {
    reject_cell(column, "must not begin with = + - or @: a spreadsheet would compute it");
  }
  return text;
}

void UserTable::reject(std::string key, std::string text, std::string why, std::string suggestion) {
  row_rejected_ = true;
  problems_.add({.line = line_,
                 .key = std::move(key),
                 .text = std::move(text),
                 .why = std::move(why),
                 .suggestion = std::move(suggestion)});
}

void UserTable::reject_cell(std::string_view column, std::string why) {
  reject(std::string(column), fmt::format("invalid {}=\"{}\"", column, cell(column)), std::move(why));
}

void UserTable::done(const std::string& nothing) {
  if (rows_ == 0 && problems_.empty()) {
    line_ = 1;
    reject("", nothing, "one row for each");
  }
  problems_.raise();
}

void UserTable::check_header() {
  std::string known = fmt::format("columns: {}", fmt::join(required_, ","));
  if (!optional_.empty()) known += fmt::format("; may be left out: {}", fmt::join(optional_, ","));
  for (const std::string& name : required_) {
    if (std::ranges::count(header_.names, name) != 1) {
      reject("", fmt::format("column {} missing or duplicate", name), known);
    }
  }
  for (const std::string& name : optional_) {
    if (std::ranges::count(header_.names, name) > 1) reject("", fmt::format("duplicate column {}", name), known);
  }
  for (const std::string& name : header_.names) {
    if (std::ranges::count(required_, name) + std::ranges::count(optional_, name) == 0) {
      reject(name, "unknown column", known);
    }
  }
  readable_ = !row_rejected_;
}

}  // namespace foredraft
