// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

/// Type predicates for code that iterates over all fields of a struct.
namespace foredraft {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;

}  // namespace foredraft
