#pragma once

#include <stdexcept>

#include "core/problems.hpp"

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

/// Problems that end the program.
class Problems : public ProblemList {
 public:
  using ProblemList::ProblemList;

  /// Throws InputError with text() unless empty.
  void raise() const;
};

}  // namespace foredraft::experiments
