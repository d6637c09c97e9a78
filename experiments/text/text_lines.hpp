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

}  // namespace foredraft::experiments
