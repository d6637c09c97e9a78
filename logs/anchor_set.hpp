// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <re2/re2.h>
#include <re2/set.h>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace foredraft::logs {

/// Bytes instead of UTF-8, because logs may contain invalid text.
inline RE2::Options byte_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

/// A set of patterns that are searched for at once.
class AnchorSet {
 public:
  void add(std::string_view pattern) {
    std::string error;
    if (set_.Add("(?m)" + std::string(pattern), &error) < 0) throw std::logic_error(error);
    empty_ = false;
  }

  void compile() {
    if (!empty_ && !set_.Compile()) throw std::logic_error("too many patterns");
  }

  /// Indices of the patterns found in `text`, ascending, in the order in which they were added, from 0.
  [[nodiscard]] std::vector<int> in(std::string_view text) const {
    std::vector<int> found;
    if (!empty_ && set_.Match(text, &found)) std::sort(found.begin(), found.end());
    return found;
  }

 private:
  RE2::Set set_{byte_options(), RE2::UNANCHORED};
  bool empty_ = true;
};

}  // namespace foredraft::logs
