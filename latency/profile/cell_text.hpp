// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>

namespace foredraft::latency {

/// A value as a CSV cell: the word of an enumeration (by its `to_string`), numbers with as many digits as are needed to
/// read the same one back, nothing for a value that is not there.
template <typename T>
std::string cell_text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::same_as<T, std::optional<double>>) {
    return value ? fmt::format("{}", *value) : "";
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace foredraft::latency
