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

}  // namespace foredraft::experiments
