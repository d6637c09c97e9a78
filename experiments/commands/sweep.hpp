// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foredraft::experiments {

/// What sweep and merge print about a complete results folder.
[[nodiscard]] std::string sweep_report(const std::string& folder);

}  // namespace foredraft::experiments
