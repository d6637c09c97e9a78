// SPDX-License-Identifier: Apache-2.0
#include "logs/html_tables.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// The text of a cell or a heading: no tags in it, no bars, blanks for line ends.
std::string text_of_html(std::string text) {
  static const RE2 tag("<[^<>]*>"), blanks(R"(\s+)");
  struct Entity {
    RE2 name;
    const char* character;
  };
  static const std::array<Entity, 9> entities{{{RE2("&(?:nbsp|#160|thinsp);"), " "},
                                               {RE2("&(?:lt|#60);"), "<"},
                                               {RE2("&(?:gt|#62);"), ">"},
                                               {RE2("&(?:times|#215);"), "\xC3\x97"},
                                               {RE2("&(?:plusmn|#177);"), "\xC2\xB1"},
                                               {RE2("&(?:rarr|#8594);"), "->"},
                                               {RE2("&(?:[nm]dash|minus|#821[12]);"), "-"},
                                               {RE2("&(?:quot|#34|#39|apos);"), "'"},
                                               {RE2("&(?:amp|#38);"), "&"}}};
  RE2::GlobalReplace(&text, tag, " ");
  for (const Entity& one : entities) RE2::GlobalReplace(&text, one.name, one.character);
  RE2::GlobalReplace(&text, blanks, " ");
  std::ranges::replace(text, '|', '/');
  return std::string(trimmed(text));
}

/// The rows of one table.
class HtmlRows {
 public:
  /// False for a table in another one: its cells are no cells of a table.
  bool read(std::string_view html) {
    static const RE2 tag(R"((?is)^(.*?)<(/?)([a-z][a-z0-9]*)([^<>]*)>)", RE2::Latin1);
    re2::StringPiece rest = piece(html);
    std::string text, end, name, attributes;
    int tables = 0;
    while (RE2::Consume(&rest, tag, &text, &end, &name, &attributes)) {
      text_ += text;
      name = in_lower_case(name);
      const bool cell = name == "td" || name == "th";
      if (name == "table" && end.empty() && ++tables > 1) return false;
      if (cell || name == "tr" || name == "table") end_cell();
      if (name == "tr" || name == "table") end_row();
      if (name == "caption" && !end.empty()) caption_ = text_of_html(text_);
      if (cell || name == "tr" || name == "caption") text_.clear();
      if (cell && end.empty()) begin_cell(attributes);
      if (name == "br") text_ += ' ';
    }
    return true;
  }

  /// Appends the lines; returns their number.
  std::ptrdiff_t write(std::string& into) const {
    if (rows_.empty()) return 0;
    std::string lines = caption_.empty() ? "" : caption_ + "\n\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const std::string& cell : rows_[i]) lines += fmt::format("| {} ", cell);
      lines += "|\n";
      for (std::size_t column = 0; i == 0 && column < rows_[i].size(); ++column) lines += "|---";
      if (i == 0) lines += "|\n";
    }
    into += lines;
    return std::ranges::count(lines, '\n');
  }

 private:
  /// 1 beyond the columns that a table may have: a few bytes make no long row.
  [[nodiscard]] std::size_t span_in(const std::string& attributes, const RE2& name) const {
    constexpr std::size_t most = 64;
    std::size_t span = 1;
    if (row_.size() < most) RE2::PartialMatch(attributes, name, &span);
    return std::clamp<std::size_t>(span, 1, most);
  }

  void begin_cell(const std::string& attributes) {
    static const RE2 of_columns(R"((?i)\bcolspan\s*=\s*["']?(\d+))"), of_rows(R"((?i)\browspan\s*=\s*["']?(\d+))");
    skip_merged();
    columns_ = span_in(attributes, of_columns);
    const std::size_t rows = span_in(attributes, of_rows);
    merged_.resize(std::max(merged_.size(), row_.size() + columns_));
    for (std::size_t i = 0; i < columns_; ++i) merged_[row_.size() + i] = rows - 1;
  }

  void end_cell() {
    if (columns_ == 0) return;
    row_.push_back(text_of_html(std::exchange(text_, {})));
    row_.resize(row_.size() + columns_ - 1);
    columns_ = 0;
  }

  /// Empty cells below one that is merged with them.
  void skip_merged() {
    while (row_.size() < merged_.size() && merged_[row_.size()] > 0) {
      --merged_[row_.size()];
      row_.emplace_back();
    }
  }

  void end_row() {
    if (row_.empty()) return;
    skip_merged();
    rows_.push_back(std::exchange(row_, {}));
  }

  std::vector<std::vector<std::string>> rows_ = {};
  std::vector<std::string> row_ = {};
  std::vector<std::size_t> merged_ = {};  ///< by column: rows below that a cell above fills
  std::string text_ = {}, caption_ = {};
  std::size_t columns_ = 0;  ///< of the open cell
};

/// Appends text that is in no table, with its headings as those of Markdown.
void append_around_tables(std::string_view text, std::string& into) {
  static const RE2 heading(R"((?is)[ \t]*<h[1-6](?:\s[^<>]*)?>(.*)</h[1-6]>\s*)");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') == text.npos ? text.npos : text.find('\n') + 1);
    text.remove_prefix(line.size());
    std::string words;
    if (line.find("<h") == line.npos || !RE2::FullMatch(piece(line), heading, &words)) {
      into.append(line);
    } else {
      into += "## " + text_of_html(words) + (line.ends_with('\n') ? "\n" : "");
    }
  }
}

}  // namespace

void HtmlTables::append(std::string_view lines, std::string& into) {
  static const RE2 begin(R"((?im)^[ \t]*(?:<[^\n]*?)??(<table(?:\s|>)))"), end(R"((?i)</table\s*>)");
  constexpr std::size_t longest = std::size_t{1} << 20U;  // a longer one is no table that somebody posts
  while (!lines.empty()) {
    re2::StringPiece rest = piece(lines), tag;
    if (table_.empty()) {
      if (!RE2::PartialMatch(rest, begin, &tag)) return append_around_tables(lines, into);
      const auto at = static_cast<std::size_t>(tag.data() - lines.data());
      append_around_tables(lines.substr(0, at), into);
      lines.remove_prefix(at);
      rest = piece(lines);
    }
    const bool ended = RE2::FindAndConsume(&rest, end);
    const std::string_view part = lines.substr(0, ended ? lines.size() - rest.size() : lines.size());
    table_ += part;
    lines.remove_prefix(part.size());
    if (!ended && table_.size() <= longest) return;
    HtmlRows rows;
    if (ended && rows.read(table_)) {
      if (!into.empty() && into.back() != '\n') into += '\n';
      const auto owed = std::ranges::count(table_, '\n') - rows.write(into);
      if (owed > 0) into.append(static_cast<std::size_t>(owed), '\n');
    } else {
      into += table_;
    }
    table_.clear();
  }
}

void HtmlTables::finish(std::string& into) { into += std::exchange(table_, {}); }

}  // namespace foredraft::logs
