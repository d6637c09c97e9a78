// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/errors.hpp"

/// Problems of a user's file, collected so that all are reported together.
namespace foredraft {

struct Problem {
  std::int64_t line = 0;  ///< 0: none
  std::string key = {};
  std::string text;
  std::string why = {};
  std::string suggestion = {};
};

/// Maximum number of problems in a message; others are only counted.
inline constexpr std::size_t max_problems = 100;

/// Problems of a file. Each is printed on one line, `source:line: key: problem (why) - suggestion`, without empty
/// parts. Quoted untrusted text is made safe to print (core/readable.hpp).
class ProblemList {
 public:
  explicit ProblemList(std::string source) : source_(std::move(source)) {}

  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  [[nodiscard]] bool empty() const { return problems_.empty(); }

  /// The problems in the order in which they were added.
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

  /// The problems sorted by line number: the first max_problems, and the number of the others.
  [[nodiscard]] std::string text() const;

  /// Throws InputError with text() unless empty.
  void raise() const;

 private:
  std::string source_;
  std::vector<Problem> problems_;
};

/// "did you mean X?" with the candidate of nearest(), or "known: A, B, C" if none is near. If there are many candidates
/// and `list` is given, refers to `foredraft list LIST` instead. If only spaces differ, says so.
[[nodiscard]] std::string suggestion_for(std::string_view word, std::span<const std::string> candidates,
                                         std::string_view list = {});

}  // namespace foredraft
