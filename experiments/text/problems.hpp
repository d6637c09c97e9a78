#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace foredraft::experiments {

/// Bad usage or bad input: exit code 2, nothing written. what() holds one line per problem.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run itself failed, or a check did: exit code 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collects the problems of one source, so that all are reported at once. Each is one line
/// `source:line: key: problem (why) - suggestion`; empty parts are left out.
class Problems {
 public:
  explicit Problems(std::string source) : source_(std::move(source)) {}

  struct Problem {
    std::int64_t line = 0;  ///< 0: none
    std::string key = {};
    std::string text;
    std::string why = {};
    std::string suggestion = {};
  };
  void add(Problem problem) { problems_.push_back(std::move(problem)); }

  /// All lines, by line number.
  [[nodiscard]] std::string text() const;
  /// Throws InputError with text() unless empty.
  void raise() const;

 private:
  std::string source_;
  std::vector<Problem> problems_;
};

/// The candidate nearest to `word`, or an empty view where none is near (a third of the letters may differ).
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

/// "did you mean X?", or "known: A, B, C" where nothing is near.
[[nodiscard]] std::string suggestion_for(std::string_view word, std::span<const std::string> candidates);

}  // namespace foredraft::experiments
