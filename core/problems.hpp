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

/// A list prints as many problems, and how many more there are.
inline constexpr std::size_t max_problems = 100;

/// Each problem is one line `source:line: key: problem (why) - suggestion`; empty parts are left out, and what a part
/// quotes from outside is made readable (core/readable.hpp).
class ProblemList {
 public:
  explicit ProblemList(std::string source) : source_(std::move(source)) {}

  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  [[nodiscard]] bool empty() const { return problems_.empty(); }

  /// As they were added.
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

  /// The lines by line number, the first hundred and how many more.
  [[nodiscard]] std::string text() const;

  /// Throws InputError with text() unless empty.
  void raise() const;

 private:
  std::string source_;
  std::vector<Problem> problems_;
};

/// The candidate nearest to `word`, or an empty view where none is near (a third of the letters may differ) or it is
/// `word` itself.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

/// "did you mean X?", or "known: A, B, C" where nothing is near; never X where it looks like `word`: where blanks
/// are all that differs, it says so.
[[nodiscard]] std::string suggestion_for(std::string_view word, std::span<const std::string> candidates);

}  // namespace foredraft
