// SPDX-License-Identifier: Apache-2.0
#include "inputs/tree_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analytic/tree/token_tree.hpp"
#include "core/documents.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::inputs {
namespace {

struct TextRow {
  std::int64_t line;
  std::vector<std::string_view> cells;
};

constexpr std::string_view separators = ", \t";

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    if (line.empty()) return cells;
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    cells.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::vector<TextRow> text_rows(std::string_view text) {
  std::vector<TextRow> rows;
  for (TextLines lines(text); lines.next();) {
    auto cells = cells_of(lines.line().substr(0, lines.line().find('#')));
    if (!cells.empty()) rows.push_back({.line = lines.number(), .cells = std::move(cells)});
  }
  return rows;
}

std::string without_comments(std::string_view text) {
  std::string result;
  bool comment = false;
  for (const char letter : text) {
    comment = letter == '#' || (comment && letter != '\n');
    if (!comment) result += letter;
  }
  return result;
}

constexpr std::int32_t max_rank = std::numeric_limits<std::int32_t>::max();

Problem invalid_rank(std::int64_t line, std::string_view rank) {
  return {.line = line,
          .text = fmt::format("invalid rank \"{}\"", rank),
          .why = fmt::format("must be a whole number from 0 to {}", max_rank)};
}

std::vector<analytic::TreePath> paths_of_list(const std::string& text, ProblemList& problems) {
  const std::size_t start = text.find('[');
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(start), '\n');
  const auto json = parse_json(std::string_view(text).substr(start), problems, line);
  problems.raise();
  std::vector<analytic::TreePath> paths;
  if (!json.is_array() || !std::ranges::all_of(json, [](const auto& path) { return path.is_array(); })) {
    problems.add({.text = "no list of paths", .why = "must be one list such as [[0], [0, 1], [1]]"});
    return paths;
  }
  for (const auto& numbers : json) {
    analytic::TreePath& path = paths.emplace_back();
    for (const auto& number : numbers) {
      const auto rank = whole_number<std::int32_t>(number, 0, max_rank);
      if (!rank) {
        problems.add(invalid_rank(line, number.dump()));
        return paths;
      }
      path.push_back(*rank);
    }
  }
  return paths;
}

std::vector<analytic::TreePath> paths_of_lines(std::string_view text, ProblemList& problems) {
  std::vector<analytic::TreePath> paths;
  for (const TextRow& row : text_rows(text)) {
    analytic::TreePath path;
    for (const std::string_view cell : row.cells) {
      const auto rank = parse_integer(cell);
      if (!rank || *rank < 0 || *rank > max_rank) {
        problems.add(invalid_rank(row.line, cell));
        break;
      }
      path.push_back(static_cast<std::int32_t>(*rank));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

std::vector<std::vector<double>> parse_accuracies(std::string_view text, const std::string& file) {
  ProblemList problems(file);
  if (!check_line_limits(text, problems)) problems.raise();
  std::vector<std::vector<double>> rows;
  for (const TextRow& row : text_rows(text)) {
    std::vector<double> accuracies;
    for (const std::string_view cell : row.cells) {
      const auto accuracy = parse_real(cell);
      if (!accuracy) {
        problems.add(
            {.line = row.line, .text = fmt::format("invalid accuracy \"{}\"", cell), .why = "must be a number"});
        break;
      }
      accuracies.push_back(*accuracy);
    }
    if (accuracies.size() == row.cells.size()) {
      try {
        analytic::check_head(accuracies, static_cast<std::int64_t>(rows.size()) + 1);
      } catch (const DomainError& error) {
        problems.add({.line = row.line, .text = error.what()});
      }
    }
    rows.push_back(std::move(accuracies));
  }
  if (rows.empty()) problems.add({.text = "holds no accuracies", .why = "must have a row for each head"});
  problems.raise();
  return rows;
}

analytic::TokenTree parse_tree(std::string_view text, const std::string& file) {
  ProblemList problems(file);
  if (!check_line_limits(text, problems)) problems.raise();
  const std::string bare = without_comments(text);
  const auto paths =
      bare.find('[') == std::string::npos ? paths_of_lines(text, problems) : paths_of_list(bare, problems);
  problems.raise();
  try {
    return analytic::tree_from_paths(paths);
  } catch (const DomainError& error) {
    problems.add({.text = error.what()});
  }
  problems.raise();
  return {};
}

std::vector<double> parse_verification_times(std::string_view text, const std::string& file) {
  constexpr std::int64_t max_positions = 1'000'000;
  ProblemList problems(file);
  if (!check_line_limits(text, problems)) problems.raise();
  std::vector<double> times;
  const std::vector<TextRow> rows = text_rows(text);
  if (rows.empty()) problems.add({.text = "holds no times", .why = "must have rows nodes,time"});
  for (const TextRow& row : rows) {
    const bool pair = row.cells.size() == 2;
    const auto nodes = pair ? parse_integer(row.cells[0]) : std::nullopt;
    const auto time = pair ? parse_real(row.cells[1]) : std::nullopt;
    const auto before = static_cast<std::int64_t>(times.size());
    if (!nodes || !time || !(*time > 0.0) || *nodes > max_positions) {
      problems.add({.line = row.line, .text = "damaged row", .why = "must be nodes,time with a time above 0"});
      break;
    }
    if (before == 0 ? *nodes != 1 : *nodes <= before) {
      problems.add(
          {.line = row.line,
           .text = fmt::format("invalid nodes={}", *nodes),
           .why = before == 0 ? "the first row must be for 1 node: autoregressive decoding" : "rows must rise"});
      break;
    }
    const double previous = before == 0 ? *time : times.back();
    for (std::int64_t n = before + 1; n <= *nodes; ++n) {
      const double share = static_cast<double>(n - before) / static_cast<double>(*nodes - before);
      times.push_back(n == *nodes ? *time : previous + share * (*time - previous));
    }
  }
  problems.raise();
  return times;
}

}  // namespace foredraft::inputs
