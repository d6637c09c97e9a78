// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/csv.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "core/documents.hpp"
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

namespace {

constexpr std::size_t max_messages = 20;

}  // namespace

UserTable::UserTable(std::string_view text, const std::string& file, std::vector<std::string> required,
                     std::vector<std::string> optional)
    : lines_(text), problems_(file), required_(std::move(required)), optional_(std::move(optional)) {
  if (!check_line_limits(text, problems_)) problems_.raise();
}

bool UserTable::next() {
  while (readable_ && lines_.next()) {
    line_ = lines_.number();
    row_refused_ = false;
    auto cells = split_csv_line(lines_.line());
    if (!cells) {
      refuse("", "damaged row", "a quote is not closed");
      readable_ = !header_.empty();
    } else if (header_.empty()) {
      read_header(*cells);
    } else if (cells->size() != header_.size()) {
      refuse("", fmt::format("{} cells", cells->size()), fmt::format("the header has {}", header_.size()));
    } else {
      cells_ = std::move(*cells);
      ++rows_;
      return true;
    }
  }
  return false;
}

std::string UserTable::cell(std::string_view column) const {
  const auto place = std::find(header_.begin(), header_.end(), column);
  return place == header_.end() ? "" : cells_[static_cast<std::size_t>(place - header_.begin())];
}

std::int64_t UserTable::count(std::string_view column, std::int64_t minimum, std::int64_t maximum) {
  const std::string text = cell(column);
  const auto number = parse_integer(text);
  if (number && *number >= minimum && *number <= maximum) return *number;
  refuse(std::string(column), fmt::format("invalid {}=\"{}\"", column, text),
         fmt::format("must be a whole number from {} to {}", minimum, maximum));
  return minimum;
}

double UserTable::positive(std::string_view column) {
  const std::string text = cell(column);
  const auto number = parse_real(text);
  if (number && *number > 0.0) return *number;
  refuse(std::string(column), fmt::format("invalid {}=\"{}\"", column, text), "must be finite and above 0");
  return 0.0;
}

double UserTable::probability(std::string_view column) {
  const std::string text = cell(column);
  const auto number = parse_real(text);
  if (number && *number >= 0.0 && *number <= 1.0) return *number;
  refuse(std::string(column), fmt::format("invalid {}=\"{}\"", column, text), "must be a number from 0 to 1");
  return 0.0;
}

std::string UserTable::name(std::string_view column) {
  std::string text = cell(column);
  const auto refuse_name = [&](std::string why) {
    refuse(std::string(column), fmt::format("invalid {}=\"{}\"", column, text), std::move(why));
  };
  if (text.empty() || text.find_first_of(",\"") != std::string::npos) {
    refuse_name("must be a name without commas and quotes");
  } else if (csv_cell(text) != text) {
    refuse_name("must not begin with = + - or @: a spreadsheet would compute it");
  }
  return text;
}

void UserTable::refuse(std::string key, std::string text, std::string why) {
  row_refused_ = true;
  if (++refused_ > max_messages) return;
  problems_.add({.line = line_, .key = std::move(key), .text = std::move(text), .why = std::move(why)});
}

void UserTable::done(const std::string& nothing) {
  if (rows_ == 0 && refused_ == 0) {
    line_ = 1;
    refuse("", nothing, "one row for each");
  }
  if (refused_ > max_messages) {
    problems_.add({.line = line_, .text = fmt::format("and {} more up to here", refused_ - max_messages)});
  }
  problems_.raise();
}

void UserTable::read_header(const std::vector<std::string>& cells) {
  std::string known = fmt::format("columns: {}", fmt::join(required_, ","));
  if (!optional_.empty()) known += fmt::format("; may be left out: {}", fmt::join(optional_, ","));
  for (const std::string& name : required_) {
    if (std::count(cells.begin(), cells.end(), name) != 1) {
      refuse("", fmt::format("column {} missing or there twice", name), known);
    }
  }
  for (const std::string& name : optional_) {
    if (std::count(cells.begin(), cells.end(), name) > 1) refuse("", fmt::format("column {} there twice", name), known);
  }
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& cell : cells) {
    if (!is_in(required_, cell) && !is_in(optional_, cell)) refuse(cell, "unknown column", known);
  }
  readable_ = !row_refused_;
  header_ = cells;
}

}  // namespace foredraft::experiments
