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

/// A number as a paper prints it, with the interval of values that round to it: half a unit of the last printed digit
/// either way. "0.8" stands for [0.75, 0.85], "0.80" for [0.795, 0.805], "7" for [6.5, 7.5].
struct PrintedNumber {
  std::string text;
  double value;
  Interval rounding;
};

/// Whether parse_printed_number() takes it.
[[nodiscard]] bool is_printed_number(std::string_view text);

/// Throws DomainError on anything but a plain decimal number.
[[nodiscard]] PrintedNumber parse_printed_number(std::string_view text);

[[nodiscard]] constexpr bool intersects(const Interval& a, const Interval& b) {
  return a.low <= b.high && b.low <= a.high;
}

/// The lines of a text that say something: without line ends, and without blank lines and those that begin with #.
class TextLines {
 public:
  /// `text` must outlive this.
  explicit TextLines(std::string_view text) : rest_(text) {}

  /// Goes to the next one; false at the end.
  [[nodiscard]] bool next();

  [[nodiscard]] std::string_view line() const { return line_; }
  /// Of this line, counted from 1 over all lines.
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::int64_t number_ = 0;
};

/// A text for each entry, such as its name.
template <class Entries, class Member>
[[nodiscard]] std::vector<std::string> texts_of(const Entries& entries, const Member& member) {
  std::vector<std::string> texts;
  for (const auto& entry : entries) texts.emplace_back(std::invoke(member, entry));
  return texts;
}

/// Characters that a label takes in front of its text.
inline constexpr std::size_t columns_of_label = 12;

/// An answer in lines of at most 100 columns: what is too long of its first line goes on at the margin, of the others
/// below the text that follows the label.
[[nodiscard]] std::string answer_lines(std::string_view text, std::size_t label_columns = columns_of_label);

/// Words after a label, in lines of at most 100 columns; without a label they begin at the margin.
[[nodiscard]] std::string labeled(std::string_view label, const std::string& text);

// ---- A table of texts, rendered for a terminal, a Markdown page, a LaTeX paper (booktabs) or as CSV.

struct Table {
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align;
    std::string group = {};  ///< that columns side by side share; empty: none
  };
  std::string caption;  ///< one sentence; in Markdown and, as a comment, in LaTeX
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`
};

/// Columns two blanks apart, no blanks at line ends. The columns of a group are one, with the group as its title.
[[nodiscard]] std::string to_text(const Table& table);
/// Groups as in to_text().
[[nodiscard]] std::string to_markdown(const Table& table);
/// A tabular (booktabs), `notes` below it. Groups stand over their columns, and so do words that titles side by side
/// begin with ("speedup, paper", "speedup, ours"). Special characters are escaped; signs, the x after a number, and the
/// names alpha, gamma, c and such as t_d in titles are mathematics, other underscores blanks. What would exceed a text
/// width of 5.5 inches gets headings and texts in several lines and a smaller font; what would exceed a page goes on in
/// another tabular. A comment says which packages it needs and, where even that does not fit, that it wants landscape.
[[nodiscard]] std::string to_latex(const Table& table, const std::vector<std::string>& notes = {});
[[nodiscard]] std::string to_csv(const Table& table);

}  // namespace foredraft
