// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#pragma GCC visibility push(default)

/// The exceptions of the library. Every error that a caller can cause is one of these four. std::logic_error means
/// misuse of the library or a bug in it.
namespace foredraft {

/// An argument lies outside the domain of a function, or arguments contradict each other. what() reads
/// `invalid NAME=VALUE (must ...)` if a single value is to blame.
class DomainError : public std::domain_error {
 public:
  using std::domain_error::domain_error;
};

/// A file cannot be read or its contents are invalid. Nothing was written. The program's exit code is 2. what() holds
/// one line per problem: `file:line: key: problem (why) - suggestion`.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run or one of its checks failed after it started: a full disk, a results folder that differs from its manifest.
/// The program's exit code is 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run was stopped on request. The same call resumes an interrupted sweep or merge; other runs start over. The
/// program's exit code is 130.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace foredraft

#pragma GCC visibility pop
