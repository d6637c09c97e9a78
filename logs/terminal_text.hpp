// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Logs that were written for a terminal.
namespace foredraft::logs {

/// Takes colors and other escape sequences out of a text that comes in pieces.
class EscapeFilter {
 public:
  /// Appends what is left of `bytes` to `text`.
  void append(std::string_view bytes, std::string& text);

 private:
  enum class State { text, escape, parameters, title };

  void skip(char c);

  State state_ = State::text;
};

/// What a terminal shows of a line: without its end, and after the last return of the cursor.
[[nodiscard]] std::string_view shown(std::string_view line);

}  // namespace foredraft::logs
