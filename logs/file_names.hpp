// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "logs/observations_file.hpp"

/// What the names of files say of the runs in them.
namespace foredraft::logs {

/// Where names of files state several draft lengths (2 of "nmax2.csv", 4 of "run_mtp-4.log"), runs that draft have that
/// of their file if it states none (W22). Not if a run of the file drafted or emitted more than that allows.
void name_by_files(std::vector<ObservedLog>& logs);

}  // namespace foredraft::logs
