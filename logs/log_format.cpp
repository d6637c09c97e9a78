// SPDX-License-Identifier: Apache-2.0
#include "logs/log_format.hpp"

#include <algorithm>
#include <utility>

namespace foredraft::logs {

RefusedRecord::RefusedRecord(std::vector<Problem> problems)
    : InputError("invalid record"), problems_(std::move(problems)) {}

void refuse(Problem problem) { throw RefusedRecord({std::move(problem)}); }

void warn_once(LogContents& contents, std::string_view code, std::int64_t line, std::string message) {
  const bool said = std::any_of(contents.warnings.begin(), contents.warnings.end(),
                                [code](const LogWarning& warning) { return warning.code == code; });
  if (!said) contents.warnings.push_back({.code = std::string(code), .line = line, .message = std::move(message)});
}

}  // namespace foredraft::logs
