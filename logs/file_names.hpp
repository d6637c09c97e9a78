// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/observations_file.hpp"

/// What the names of files say of the runs in them.
namespace foredraft::logs {

/// Runs that draft, in a file that states no draft length, have that of its name: 4 of "nmax4.csv" and "run_mtp-4.log"
/// (W22). Not if one of them drafted or emitted more than that allows.
void name_by_file(ObservedLog& log);

}  // namespace foredraft::logs
