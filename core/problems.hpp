// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/errors.hpp"

/// Problems of a file that a user wrote, collected so that all are reported at once.
namespace foredraft {

struct Problem {
  std::int64_t line = 0;  ///< 0: none
  std::string key = {};
  std::string text;
  std::string why = {};
  std::string suggestion = {};
};

/// Maximum number of problems in a message; the rest is only counted.
inline constexpr std::size_t max_problems = 100;

/// Problems of a file. Each is one line `source:line: key: problem (why) - suggestion`; empty parts are omitted, and
/// quoted text from outside is made readable (core/readable.hpp).
class ProblemList {
 public:
  explicit ProblemList(std::string source) : source_(std::move(source)) {}

  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  [[nodiscard]] bool empty() const { return problems_.empty(); }

  /// The problems in the order in which they were added.
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

  /// The lines sorted by line number: the first hundred and the number of the others.
  [[nodiscard]] std::string text() const;

  /// Throws InputError with text() unless empty.
  void raise() const;

 private:
  std::string source_;
  std::vector<Problem> problems_;
};

/// "did you mean X?" of nearest(), or "known: A, B, C" if none is near. Of many, `foredraft list LIST` shows them
/// instead, where `list` names one. If only blanks differ it says so.
[[nodiscard]] std::string suggestion_for(std::string_view word, std::span<const std::string> candidates,
                                         std::string_view list = {});

}  // namespace foredraft
