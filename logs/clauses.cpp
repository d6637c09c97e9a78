// SPDX-License-Identifier: Apache-2.0
#include "logs/clauses.hpp"

#include <re2/re2.h>

namespace foredraft::logs {

std::size_t end_of_clause(std::string_view text) {
  static const RE2 end("(?i)([,;]| (?:and|but|while|whereas|vs\\.?|versus|/) )");
  re2::StringPiece found;
  const bool ends = RE2::PartialMatch(text, end, &found);
  return ends ? static_cast<std::size_t>(found.data() - text.data()) : text.size();
}

std::size_t end_of_sentence(std::string_view text) {
  static const RE2 end(R"((?i)(?:^|[^.])\b(?:vs|approx|ca|avg|e\.g|i\.e|resp|no)\.|([.;!?] ))");
  re2::StringPiece rest = text, found;
  while (RE2::FindAndConsume(&rest, end, &found))
    if (found.data() != nullptr) return static_cast<std::size_t>(found.data() - text.data()) + found.size();
  return text.size();
}

}  // namespace foredraft::logs
