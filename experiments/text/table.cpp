// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "experiments/text/csv.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::experiments {
namespace {

std::optional<double> plain_decimal(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

bool is_printed_number(std::string_view text) { return plain_decimal(text).has_value(); }

PrintedNumber parse_printed_number(std::string_view text) {
  const std::optional<double> parsed = plain_decimal(text);
  if (!parsed) throw DomainError(fmt::format("invalid printed number '{}' (must be a plain decimal number)", text));
  const double value = *parsed;
  const auto point = text.find('.');
  const auto decimals = point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
  const double half_unit = 0.5 * std::pow(10.0, -decimals);
  // Built from decimals again, so that 2.45 is the double nearest to 2.45 and not 2.4 + 0.05 with its round-off.
  const auto shifted = [&](double units) { return std::stod(fmt::format("{:.{}f}", value + units, decimals + 1)); };
  return {.text = std::string(text), .value = value, .rounding = {shifted(-half_unit), shifted(half_unit)}};
}

bool TextLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (!line_.empty() && line_.front() != '#') return true;
  }
  return false;
}

std::string labeled(std::string_view label, const std::string& text) {
  std::string lines;
  std::string line = fmt::format("{:<{}}", label, label.empty() ? 0 : columns_of_label);
  const std::size_t indent = line.size();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > indent && line.size() + 1 + word.size() > text_columns) {
      lines += line + "\n";
      line = std::string(indent, ' ');
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return lines + line + "\n";
}

namespace {

/// Characters that a terminal shows: UTF-8 continuation bytes take no place.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string escape_markdown(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '*' || c == '_') result += '\\';
    result += c;
  }
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Special characters escaped; +-, a minus sign before a digit and the x of a factor are mathematics, a hyphen in a
/// word stays one.
std::string escape_latex(std::string_view text) {
  text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1));
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool begins_word = i == 0 || text[i - 1] == ' ';
    if (begins_word && c == '+' && next == '-') {
      result += "$\\pm$";
      ++i;
      continue;
    }
    if (begins_word && c == '-' && is_digit(next)) {
      result += "$-$";
      continue;
    }
    if (c == 'x' && i > 0 && is_digit(text[i - 1]) && !std::isalnum(static_cast<unsigned char>(next))) {
      result += "$\\times$";
      continue;
    }
    switch (c) {
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        result += '\\';
        [[fallthrough]];
      default:
        result += c;
    }
  }
  return result;
}

/// The names of variables as mathematics: "alpha", "c", "c = 0.02", "speedup at gamma".
std::string latex_title(std::string_view title) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> symbols{
      {{"alpha", "\\alpha"}, {"gamma", "\\gamma"}, {"c", "c"}}};
  std::string result;
  std::istringstream words{std::string(title)};
  for (std::string word; words >> word;) {
    const auto* symbol =
        std::find_if(symbols.begin(), symbols.end(), [&](const auto& one) { return one.first == word; });
    const bool value = word == "=" && result.ends_with('$');
    if (value) {
      std::string number;
      words >> number;
      result.pop_back();
      result += fmt::format(" = {}$", escape_latex(number));
      continue;
    }
    result += (result.empty() ? "" : " ") +
              (symbol == symbols.end() ? escape_latex(word) : fmt::format("${}$", symbol->second));
  }
  return result;
}

/// Runs of columns under one heading: the columns of a group, or a column of none.
struct Heading {
  std::string_view group;
  std::size_t first, count;
};

std::vector<Heading> headings(const Table& table) {
  std::vector<Heading> result;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& group = table.columns[i].group;
    if (!group.empty() && !result.empty() && result.back().group == group) {
      ++result.back().count;
    } else {
      result.push_back({group, i, 1});
    }
  }
  return result;
}

std::string padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::string padding(width - std::min(width, width_of(text)), ' ');
  return align == Table::Align::right ? padding + text : text + padding;
}

/// The same with each group as one column, its texts below each other.
Table without_groups(const Table& table) {
  Table joined{.caption = table.caption, .columns = {}, .rows = {}};
  joined.rows.resize(table.rows.size());
  for (const Heading& heading : headings(table)) {
    const Table::Column& first = table.columns[heading.first];
    joined.columns.push_back(heading.group.empty() ? first : Table::Column{first.group, Table::Align::left});
    for (std::size_t i = 0; i < table.rows.size(); ++i) joined.rows[i].push_back(table.rows[i][heading.first]);
    for (std::size_t column = heading.first; column < heading.first + heading.count; ++column) {
      if (heading.group.empty()) break;
      std::size_t width = 0;
      for (const auto& row : table.rows) width = std::max(width, width_of(row[column]));
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const std::string cell = padded(table.rows[i][column], width, table.columns[column].align);
        std::string& text = joined.rows[i].back();
        if (column == heading.first)
          text.clear();
        else
          text += "  ";
        text += cell;
      }
    }
  }
  return joined;
}

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> result;
  for (const Table::Column& column : table.columns) result.push_back(column.title);
  return result;
}

/// Every cell of a row through `change`, with `separator` between.
std::string joined(const std::vector<std::string>& row, std::string_view separator, const auto& change) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : std::string(separator)) + change(row[i]);
  return line;
}

}  // namespace

std::string to_text(const Table& grouped) {
  const Table table = without_groups(grouped);
  std::vector<std::vector<std::string>> lines{titles(table)};
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    FOREDRAFT_EXPECT(line.size() == widths.size());
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      row += (i == 0 ? "" : "  ") + padded(line[i], widths[i], table.columns[i].align);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string to_markdown(const Table& grouped) {
  const Table table = without_groups(grouped);
  const auto row = [](const std::vector<std::string>& cells) {
    return "| " + joined(cells, " | ", escape_markdown) + " |\n";
  };
  std::string text = table.caption.empty() ? "" : table.caption + "\n\n";
  text += row(titles(table)) + "|";
  for (const Table::Column& column : table.columns) text += column.align == Table::Align::right ? "---:|" : "---|";
  text += "\n";
  for (const auto& cells : table.rows) text += row(cells);
  return text;
}

std::string to_latex(const Table& table, const std::vector<std::string>& notes) {
  std::string text = "% needs \\usepackage{booktabs}\n";
  if (!table.caption.empty()) text += "% " + table.caption + "\n";
  text += "\\begin{tabular}{";
  for (const Table::Column& column : table.columns) text += column.align == Table::Align::right ? 'r' : 'l';
  text += "}\n\\toprule\n";
  std::string groups, rules;
  for (const Heading& heading : headings(table)) {
    groups += heading.first == 0 ? "" : " & ";
    if (heading.group.empty()) continue;
    groups += fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", heading.count, latex_title(heading.group));
    rules += fmt::format("\\cmidrule(lr){{{}-{}}}", heading.first + 1, heading.first + heading.count);
  }
  if (!rules.empty()) text += groups + " \\\\\n" + rules + "\n";
  text += joined(titles(table), " & ", latex_title) + " \\\\\n\\midrule\n";
  for (const auto& cells : table.rows) text += joined(cells, " & ", escape_latex) + " \\\\\n";
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : notes) {
    text += fmt::format("\\par\\smallskip{{\\footnotesize {}\\par}}\n", escape_latex(note));
  }
  return text;
}

std::string to_csv(const Table& table) {
  std::string text = csv_header(titles(table));
  for (const auto& cells : table.rows) text += joined(cells, ",", csv_cell) + "\n";
  return text;
}

}  // namespace foredraft::experiments
