// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace foredraft::experiments {

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

/// Breaks lines of more than 100 columns at their last blank that fits, and indents what goes on; a word that is longer
/// stays whole.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent = 0);

/// Characters that a label takes in front of its text.
inline constexpr std::size_t columns_of_label = 12;

/// Words after a label, in lines of at most 100 columns; without a label they begin at the margin.
[[nodiscard]] std::string labeled(std::string_view label, const std::string& text);

}  // namespace foredraft::experiments
