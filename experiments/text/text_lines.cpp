// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/text_lines.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <sstream>

namespace foredraft::experiments {
namespace {

constexpr std::size_t text_columns = 100;

}  // namespace

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
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    while (line.size() > text_columns) {
      const std::size_t blank = line.rfind(' ', text_columns);
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

}  // namespace foredraft::experiments
