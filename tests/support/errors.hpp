// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "foredraft/errors.hpp"

/// The parts of an error that tests compare: place, key, kind, value. Its explanations may be reworded.
namespace foredraft {

/// A message without the explanation in parentheses and the advice after a dash of each of its lines:
/// "a.toml:3: gamma: invalid value 0" of "a.toml:3: gamma: invalid value 0 (must be at least 1) - write 1".
inline std::string brief(std::string_view message) {
  std::string kept;
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    kept += line.substr(0, std::min(line.find(" ("), line.find(" - ")));
    message.remove_prefix(line.size());
    if (message.empty()) break;
    kept += '\n';
    message.remove_prefix(1);
  }
  return kept;
}

/// The message of the error that `run` throws; empty if it succeeds.
template <class Error = InputError, class Run>
std::string whole_rejection(const Run& run) {
  try {
    static_cast<void>(run());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// The same as a brief message.
template <class Error = InputError, class Run>
std::string rejection(const Run& run) {
  return brief(whole_rejection<Error>(run));
}

/// Matches an exception whose brief message holds `text`: CHECK_THROWS_MATCHES(f(), DomainError, Says("gamma=0")).
class Says final : public Catch::MatcherBase<std::exception> {
 public:
  explicit Says(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] bool match(const std::exception& error) const override {
    return brief(error.what()).find(text_) != std::string::npos;
  }
  [[nodiscard]] std::string describe() const override { return "says: " + text_; }

 private:
  std::string text_;
};

}  // namespace foredraft
