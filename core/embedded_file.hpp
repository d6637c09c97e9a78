// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace foredraft {

/// A file that the build compiles into the program (cmake/embedded_files.cmake).
struct EmbeddedFile {
  std::string_view name;  ///< without folder and extension: "nvidia"
  std::string_view text;
};

}  // namespace foredraft
