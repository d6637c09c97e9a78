// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/text_lines.hpp"

#include <algorithm>

namespace foredraft::experiments {

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

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t columns = 100;
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    while (line.size() > columns) {
      const std::size_t blank = line.rfind(' ', columns);
      if (blank == std::string::npos || line.find_first_not_of(' ') > blank) break;
      result += line.substr(0, blank) + "\n";
      line = std::string(indent, ' ') + line.substr(blank + 1);
    }
    result += line;
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace foredraft::experiments
