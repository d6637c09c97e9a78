// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

/// Type predicates and transformations for code that iterates over all fields of a struct.
namespace foredraft {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
/// T, or what T may hold if it is an optional.
template <typename T>
struct WithoutOptional {
  using type = T;
};
template <typename T>
struct WithoutOptional<std::optional<T>> {
  using type = T;
};
template <typename T>
using without_optional = typename WithoutOptional<T>::type;
template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;

}  // namespace foredraft
