// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

/// Parameters by name, as configurations and command lines give them.
namespace foredraft {

/// Entries [from, to, gamma]: gamma for batch sizes `from` to `to`.
using Schedule = std::vector<std::array<std::int64_t, 3>>;

/// Value of a parameter: a number, a word or a list.
using Value = std::variant<double, std::int64_t, std::string, std::vector<double>, std::vector<std::string>, Schedule>;

/// A parameter by its name in configurations, with its value: {"alpha", 0.8}.
struct Input {
  std::string parameter;
  Value value;
};

}  // namespace foredraft

#pragma GCC visibility pop
