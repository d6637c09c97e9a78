// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Source and build environment of this program.
namespace foredraft::experiments {

struct BuildInfo {
  std::string_view version;
  std::string_view commit;   ///< of the repository, or "unknown"
  std::string_view changes;  ///< "none", "uncommitted" or "unknown"
  std::string_view compiler;
  std::string_view flags;
  std::string_view build_type;
  std::string_view installed_plots;      ///< plots/ of an installation, relative to the folder of the program
  std::string_view installed_operators;  ///< operators/ likewise
};

[[nodiscard]] BuildInfo build_info();

}  // namespace foredraft::experiments
