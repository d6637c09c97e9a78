// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/user_table.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/documents.hpp"
#include "core/numbers.hpp"
#include "experiments/text/csv.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::size_t most_messages = 20;

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
  if (++refused_ > most_messages) return;
  problems_.add({.line = line_, .key = std::move(key), .text = std::move(text), .why = std::move(why)});
}

void UserTable::done(const std::string& nothing) {
  if (rows_ == 0 && refused_ == 0) {
    line_ = 1;
    refuse("", nothing, "one row for each");
  }
  if (refused_ > most_messages) {
    problems_.add({.line = line_, .text = fmt::format("and {} more up to here", refused_ - most_messages)});
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
