// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "logs/observations_file.hpp"

namespace foredraft::experiments {

/// What was read, in at most nine lines of at most 100 columns: files and engines, settings, observations by draft
/// length and requests at once, warnings.
[[nodiscard]] std::string import_summary(std::span<const logs::ObservedLog> logs);

}  // namespace foredraft::experiments
