// SPDX-License-Identifier: Apache-2.0
#include "core/table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "core/csv.hpp"
#include "foredraft/errors.hpp"

namespace foredraft {
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
  // Parsed from decimal text, so that 2.45 is the nearest double and not 2.4 + 0.05 with round-off. std::stod() would
  // throw below the smallest normal number.
  const auto shifted = [&](double units) {
    return std::strtod(fmt::format("{:.{}f}", value + units, decimals + 1).c_str(), nullptr);
  };
  return {.text = std::string(text), .value = value, .rounding = {shifted(-half_unit), shifted(half_unit)}};
}

bool TextLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (line_.find_first_not_of(" \t") != std::string_view::npos && line_.front() != '#') return true;
  }
  return false;
}

std::string answer_lines(std::string_view text, std::size_t label_columns) {
  const std::size_t first = std::min(text.find('\n'), text.size());
  return wrapped(text.substr(0, first)) + wrapped(text.substr(first), label_columns);
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

/// Displayed characters; UTF-8 continuation bytes have no width.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
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

/// Escapes special characters. +-, a minus sign before a digit and the x of a factor are set in math mode; hyphens in
/// words are kept.
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
    if (c == '\\') {
      result += "\\textbackslash{}";
    } else if (c == '~') {
      result += "\\textasciitilde{}";
    } else if (c == '^') {
      result += "\\textasciicircum{}";
    } else {
      if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

/// An unbreakable piece of a LaTeX heading and its approximate width in characters.
struct LatexWord {
  std::string text;
  std::size_t width;
};

/// The words of a title. Underscores become spaces; variable names ("alpha", "c = 0.02", "t_d") and a final factor
/// ("speed_x") are set in math mode.
std::vector<LatexWord> latex_words(std::string_view title) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> symbols{
      {{"alpha", "\\alpha"}, {"gamma", "\\gamma"}, {"c", "c"}}};
  std::vector<LatexWord> result;
  std::istringstream names{std::string(title)};
  bool equation = false;
  for (std::string name; names >> name;) {
    if (name == "=" && !result.empty() && result.back().text.ends_with('$')) {
      equation = true;
      continue;
    }
    if (equation) {
      result.back().text.pop_back();
      result.back().text += fmt::format(" = {}$", escape_latex(name));
      result.back().width += name.size() + 3;
      equation = false;
      continue;
    }
    const std::string comma = name.ends_with(',') ? "," : "";
    if (!comma.empty()) name.pop_back();
    const std::size_t first_of_name = result.size();
    if (name.size() > 2 && name[1] == '_' && name.find('_', 2) == std::string::npos) {
      result.push_back({fmt::format("${}_{{{}}}$", name[0], name.substr(2)), name.size() - 1});
    } else {
      std::ranges::replace(name, '_', ' ');
      std::istringstream words{name};
      for (std::string word; words >> word;) {
        const auto* symbol = std::ranges::find_if(symbols, [&](const auto& one) { return one.first == word; });
        if (symbol != symbols.end()) {
          result.push_back({fmt::format("${}$", symbol->second), 1});
        } else if (word == "x" && result.size() > first_of_name) {
          result.push_back({"($\\times$)", 4});
        } else {
          result.push_back({escape_latex(word), width_of(word)});
        }
      }
    }
    if (!comma.empty() && !result.empty()) {
      result.back().text += comma;
      ++result.back().width;
    }
  }
  return result;
}

/// A title in lines of at most `width` characters, or as wide as its longest word.
struct LatexHeading {
  std::string text;
  std::size_t width = 0;
  std::size_t lines = 1;
};

LatexHeading latex_heading(std::string_view title, std::size_t width) {
  const std::vector<LatexWord> words = latex_words(title);
  for (const LatexWord& word : words) width = std::max(width, word.width);
  LatexHeading heading;
  std::size_t line = 0;
  for (const LatexWord& word : words) {
    const bool fits = line == 0 || line + 1 + word.width <= width;
    if (!fits) ++heading.lines;
    if (!heading.text.empty()) heading.text += fits ? " " : "\\\\";
    heading.text += word.text;
    line = fits && line > 0 ? line + 1 + word.width : word.width;
    heading.width = std::max(heading.width, line);
  }
  if (heading.lines > 1)
    heading.text = fmt::format("\\begin{{tabular}}[b]{{@{{}}c@{{}}}}{}\\end{{tabular}}", heading.text);
  return heading;
}

/// A heading and its columns: the columns of a group, or a single column.
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

/// The table with each group merged into one column.
Table without_groups(const Table& table) {
  Table joined{.caption = table.caption, .columns = {}, .rows = {}};
  joined.rows.resize(table.rows.size());
  for (const Heading& heading : headings(table)) {
    const Table::Column& first = table.columns[heading.first];
    const bool single = heading.group.empty();
    joined.columns.push_back(single ? first : Table::Column{first.group, Table::Align::left});
    for (auto& row : joined.rows) row.emplace_back();
    for (std::size_t column = heading.first; column < heading.first + heading.count; ++column) {
      std::size_t width = 0;
      for (const auto& row : table.rows) width = single ? 0 : std::max(width, width_of(row[column]));
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        joined.rows[i].back() += column == heading.first ? "" : "  ";
        joined.rows[i].back() += padded(table.rows[i][column], width, table.columns[column].align);
      }
    }
  }
  return joined;
}

/// The cells of a row, transformed by `change` and joined by `separator`.
std::string joined(const std::vector<std::string>& row, std::string_view separator, const auto& change) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : std::string(separator)) + change(row[i]);
  return line;
}

}  // namespace

std::string to_text(const Table& grouped) {
  const Table table = without_groups(grouped);
  std::vector<std::vector<std::string>> lines{texts_of(table.columns, &Table::Column::title)};
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
  text += row(texts_of(table.columns, &Table::Column::title)) + "|";
  for (const Table::Column& column : table.columns) text += column.align == Table::Align::right ? "---:|" : "---|";
  text += "\n";
  for (const auto& cells : table.rows) text += row(cells);
  return text;
}

namespace {

/// Groups adjacent columns whose titles have the same text before a comma ("speedup, paper", "speedup, ours").
std::vector<Table::Column> grouped_by_title(std::vector<Table::Column> columns) {
  const auto group_of = [](const Table::Column& column) {
    const std::size_t comma = column.title.find(", ");
    return column.group.empty() && comma != std::string::npos ? column.title.substr(0, comma) : std::string();
  };
  for (std::size_t i = 0; i < columns.size();) {
    const std::string group = group_of(columns[i]);
    std::size_t end = i + 1;
    while (!group.empty() && end < columns.size() && group_of(columns[end]) == group) ++end;
    for (std::size_t column = i; end - i > 1 && column < end; ++column) {
      columns[column].title.erase(0, group.size() + 2);
      columns[column].group = group;
    }
    i = end;
  }
  return columns;
}

/// A font size and its column separation, in points of a 10 pt document.
struct LatexSize {
  std::string_view command;
  double character, column, line;
};
constexpr std::array latex_sizes{LatexSize{"", 5.0, 12.0, 12.0},
                                 LatexSize{"\\footnotesize\\setlength{\\tabcolsep}{3pt}", 4.25, 6.0, 9.5},
                                 LatexSize{"\\scriptsize\\setlength{\\tabcolsep}{2pt}", 3.9, 4.0, 8.0}};
constexpr double latex_page_width = 397.0;  // points: 5.5 inches
constexpr double latex_page_height = 500.0;

/// Layout of a LaTeX table: headings, and the width of each column in characters.
class LatexLayout {
 public:
  explicit LatexLayout(const Table& table)
      : columns_(grouped_by_title(table.columns)), widths_(columns_.size(), 1), broken_(columns_.size(), false) {
    std::vector<std::size_t> words(columns_.size(), 1);
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        widths_[i] = std::max(widths_[i], width_of(row[i]));
        std::istringstream text(row[i]);
        for (std::string word; text >> word;) words[i] = std::max(words[i], width_of(word));
      }
    }
    const std::vector<std::size_t> cells = widths_;
    constexpr std::size_t one_line = 1'000;
    set_headings(words, one_line);
    if (points() > latex_page_width) {
      widths_ = cells;
      set_headings(words, 0);
    }
    for (size_ = 0; size_ + 1 < latex_sizes.size() && points() > latex_page_width;) ++size_;
    break_texts(words);
  }

  [[nodiscard]] std::string begin() const { return specification() + headings_; }
  [[nodiscard]] bool too_wide() const { return points() > latex_page_width; }
  [[nodiscard]] std::string_view packages() const {
    return std::ranges::find(broken_, true) == broken_.end() ? "booktabs" : "array,booktabs";
  }
  [[nodiscard]] std::string_view size() const { return latex_sizes.at(size_).command; }

  /// Number of text lines of a row.
  [[nodiscard]] std::size_t lines(const std::vector<std::string>& row) const {
    std::size_t result = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (broken_[i]) result = std::max(result, (width_of(row[i]) + widths_[i] - 1) / widths_[i]);
    }
    return result;
  }
  [[nodiscard]] std::size_t lines_on_page() const {
    return static_cast<std::size_t>(latex_page_height / latex_sizes.at(size_).line);
  }

 private:
  /// Breaks headings into lines of at most `width` characters or the width of their columns. `words`: width of the
  /// longest word of each column, updated to include its heading.
  void set_headings(std::vector<std::size_t>& words, std::size_t width) {
    std::string groups, rules, heads;
    const Table titled{.caption = {}, .columns = columns_, .rows = {}};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const LatexHeading heading = latex_heading(columns_[i].title, std::max(width, widths_[i]));
      widths_[i] = std::max(widths_[i], heading.width);
      words[i] = std::max(words[i], heading.lines > 1 ? heading.width : latex_heading(columns_[i].title, 1).width);
      heads += (i == 0 ? "" : " & ") + heading.text;
    }
    for (const Heading& heading : headings(titled)) {
      groups += heading.first == 0 ? "" : " & ";
      if (heading.group.empty()) continue;
      std::size_t below = 2 * (heading.count - 1);
      for (std::size_t i = heading.first; i < heading.first + heading.count; ++i) below += widths_[i];
      const LatexHeading group = latex_heading(heading.group, std::max(width, below));
      if (group.width > below) widths_[heading.first + heading.count - 1] += group.width - below;
      groups += fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", heading.count, group.text);
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", heading.first + 1, heading.first + heading.count);
    }
    headings_ = rules.empty() ? "" : groups + " \\\\\n" + rules + "\n";
    headings_ += heads + " \\\\\n\\midrule\n";
  }

  [[nodiscard]] double points() const {
    const LatexSize& size = latex_sizes.at(size_);
    double sum = 0.0;
    for (const std::size_t width : widths_) sum += static_cast<double>(width) * size.character + size.column;
    return sum;
  }

  /// Narrows the widest text column, then the widest of all columns, until the table fits or every column has the width
  /// of its longest word.
  void break_texts(const std::vector<std::size_t>& words) {
    bool texts_only = true;
    while (points() > latex_page_width) {
      std::size_t widest = columns_.size();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool may_break = !texts_only || columns_[i].align == Table::Align::left;
        if (may_break && widths_[i] > words[i] && (widest == columns_.size() || widths_[i] > widths_[widest])) {
          widest = i;
        }
      }
      if (widest < columns_.size()) {
        broken_[widest] = true;
        --widths_[widest];
      } else if (texts_only) {
        texts_only = false;
      } else {
        return;
      }
    }
  }

  [[nodiscard]] std::string specification() const {
    std::string text = "\\begin{tabular}{";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool right = columns_[i].align == Table::Align::right;
      if (broken_[i]) {
        text += fmt::format(">{{\\{}\\arraybackslash}}p{{{:.0f}pt}}", right ? "raggedleft" : "raggedright",
                            static_cast<double>(widths_[i]) * latex_sizes.at(size_).character);
      } else {
        text += right ? 'r' : 'l';
      }
    }
    return text + "}\n\\toprule\n";
  }

  std::vector<Table::Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<bool> broken_;  ///< texts are broken into lines of widths_ characters
  std::size_t size_ = 0;
  std::string headings_;
};

}  // namespace

std::string to_latex(const Table& table, const std::vector<std::string>& notes) {
  constexpr std::string_view end = "\\bottomrule\n\\end{tabular}";
  const LatexLayout layout(table);
  std::string text = fmt::format("% needs \\usepackage{{{}}}\n", layout.packages());
  if (!table.caption.empty()) text += "% " + table.caption + "\n";
  if (layout.too_wide()) text += "% wider than 5.5 inches: set it in landscape (package pdflscape)\n";
  if (!layout.size().empty()) text += fmt::format("\\begingroup{}%\n", layout.size());
  text += layout.begin();
  std::size_t lines = 0;
  for (const auto& cells : table.rows) {
    if (lines + layout.lines(cells) > layout.lines_on_page()) {
      text += fmt::format("{}\\par\\medskip\\noindent\n{}", end, layout.begin());
      lines = 0;
    }
    lines += layout.lines(cells);
    text += joined(cells, " & ", escape_latex) + " \\\\\n";
  }
  text += end;
  text += layout.size().empty() ? "\n" : "\\endgroup\n";
  for (const std::string& note : notes) {
    text += fmt::format("\\par\\smallskip{{\\footnotesize {}\\par}}\n", escape_latex(note));
  }
  return text;
}

std::string to_csv(const Table& table) {
  std::string text = csv_header(texts_of(table.columns, &Table::Column::title));
  for (const auto& cells : table.rows) text += joined(cells, ",", csv_cell) + "\n";
  return text;
}

}  // namespace foredraft
