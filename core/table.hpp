// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "core/readable.hpp"

namespace foredraft {

/// A number as printed in a paper, and the interval of values that round to it: plus or minus half a unit of the last
/// printed digit. "0.8" stands for [0.75, 0.85], "0.80" for [0.795, 0.805], "7" for [6.5, 7.5].
struct PrintedNumber {
  std::string text;
  double value;
  Interval rounding;
};

/// True if parse_printed_number() accepts it.
[[nodiscard]] bool is_printed_number(std::string_view text);

/// Throws DomainError on anything but a plain decimal number.
[[nodiscard]] PrintedNumber parse_printed_number(std::string_view text);

[[nodiscard]] constexpr bool intersects(const Interval& a, const Interval& b) {
  return a.low <= b.high && b.low <= a.high;
}

/// The lines of a text without line ends, blank lines and lines starting with #.
class TextLines {
 public:
  /// `text` must outlive this object.
  explicit TextLines(std::string_view text) : rest_(text) {}

  /// Moves to the next line; false at the end.
  [[nodiscard]] bool next();

  [[nodiscard]] std::string_view line() const { return line_; }
  /// Number of this line in the text, from 1.
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::int64_t number_ = 0;
};

/// `member` (such as the name) of each entry.
template <class Entries, class Member>
[[nodiscard]] std::vector<std::string> texts_of(const Entries& entries, const Member& member) {
  std::vector<std::string> texts;
  for (const auto& entry : entries) texts.emplace_back(std::invoke(member, entry));
  return texts;
}

/// Width of the column of labels.
inline constexpr std::size_t columns_of_label = 12;

/// An answer in lines of at most 100 columns. The first line continues at the margin, others below the text after their
/// label.
[[nodiscard]] std::string answer_lines(std::string_view text, std::size_t label_columns = columns_of_label);

/// A label and its text in lines of at most 100 columns; without a label the text starts at the margin.
[[nodiscard]] std::string labeled(std::string_view label, const std::string& text);

// ---- A table of texts, rendered as plain text, Markdown, LaTeX (booktabs) or CSV.

struct Table {
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align;
    std::string group = {};  ///< adjacent columns may share it; empty: none
  };
  std::string caption;  ///< one sentence, shown in Markdown and as a comment in LaTeX
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< one cell per column
};

/// Columns are separated by two spaces; lines have no trailing spaces. The columns of a group are merged into one with
/// the group's title.
[[nodiscard]] std::string to_text(const Table& table);
/// Groups as in to_text().
[[nodiscard]] std::string to_markdown(const Table& table);
/// A tabular (booktabs) with `notes` below it. Groups, and prefixes that adjacent titles share ("speedup, paper",
/// "speedup, ours"), are set above their columns. Special characters are escaped. Signs, the x after a number, and
/// variable names in titles (alpha, gamma, c, t_d) are set in math mode; other underscores become spaces. A table wider
/// than 5.5 inches gets multi-line headings and texts and a smaller font; a table longer than a page is split into
/// several. A comment lists the required packages and, if the table is still too wide, recommends landscape.
[[nodiscard]] std::string to_latex(const Table& table, const std::vector<std::string>& notes = {});
[[nodiscard]] std::string to_csv(const Table& table);

}  // namespace foredraft
