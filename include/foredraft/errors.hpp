// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#pragma GCC visibility push(default)

/// What functions of the library throw. Everything that a caller can cause is one of these four; std::logic_error is a
/// mistake in the use of the library or in the library itself.
namespace foredraft {

/// An argument lies outside the domain of a function, or arguments do not go together. what() reads
/// `invalid NAME=VALUE (must ...)` where one value is to blame.
class DomainError : public std::domain_error {
 public:
  using std::domain_error::domain_error;
};

/// A file cannot be read, or does not say what it must. what() holds one line per problem, `file:line: key: problem
/// (why) - suggestion`; nothing was written. The program's exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that had begun failed, or one of its checks did: a full disk, a folder that is not what it says. The program's
/// exit code 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run was asked to stop: what was written is safe, and the same call resumes it. The program's exit code 130.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace foredraft

#pragma GCC visibility pop
