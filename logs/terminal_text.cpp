// SPDX-License-Identifier: Apache-2.0
#include "logs/terminal_text.hpp"

#include <algorithm>
#include <cstddef>

namespace foredraft::logs {

void EscapeFilter::append(std::string_view bytes, std::string& text) {
  while (!bytes.empty()) {
    if (state_ == State::text) {
      const std::size_t escape = std::min(bytes.find('\x1b'), bytes.size());
      text += bytes.substr(0, escape);
      if (escape == bytes.size()) return;
      state_ = State::escape;
      bytes.remove_prefix(escape + 1);
    } else {
      if (bytes.front() == '\n') {  // ends a sequence that was cut short
        state_ = State::text;
        continue;
      }
      skip(bytes.front());
      bytes.remove_prefix(1);
    }
  }
}

void EscapeFilter::skip(char c) {
  if (state_ == State::escape && (c == '[' || c == ']')) {
    state_ = c == '[' ? State::parameters : State::title;
  } else if (state_ == State::escape || (state_ == State::parameters && c >= '@' && c <= '~') ||
             (state_ == State::title && (c == '\a' || c == '\\'))) {
    state_ = State::text;
  }
}

std::string_view shown(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t last_return = line.rfind('\r');
  return last_return == std::string_view::npos ? line : line.substr(last_return + 1);
}

}  // namespace foredraft::logs
