// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {

/// Ends a run whose points.csv is whole: writes what follows from it (summary and figure data, for a whole sweep), then
/// the manifest with the digest of every file and the state "complete".
void complete_folder(const std::string& folder, Manifest manifest);

}  // namespace foredraft::experiments
