// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#pragma GCC visibility push(default)

/// Version of the library; CMake and pip take the version of the project from here.
namespace foredraft {

/// Version of these headers.
inline constexpr int version_major = 0;
inline constexpr int version_minor = 3;
inline constexpr int version_patch = 0;
/// ".dev0" before a release, as in Python packages; "" for a release.
inline constexpr std::string_view version_suffix = "";

/// "MAJOR.MINOR.PATCH" and the suffix of the linked library.
[[nodiscard]] std::string_view version();

}  // namespace foredraft

#pragma GCC visibility pop
